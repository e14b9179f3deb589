#!/usr/bin/env bash
# MiniStack (PyPI) as a stand-in for SQS and other AWS services, for tests with the build tag "real".
#   ministack.sh start DIR   installs it into .tools/ once, starts it on a free port of loopback, prints the endpoint;
#                            pid, log and whatever it writes are in DIR
#   ministack.sh stop DIR    stops that one
# Needs Python 3.10 or newer with venv. State is in memory: a new start is an empty one.
set -euo pipefail
VERSION=1.5.33
[ $# = 2 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=ministack
venv=$(cd "$here/../.." && pwd)/.tools/ministack-$VERSION

fill() {
  echo "installing MiniStack $VERSION into .tools, once" >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "ministack==$VERSION" >&2
}

install() { once "$venv" fill; }

launch() {
  # DOCKER_HOST at nothing: it must never touch a Docker daemon of this machine.
  env GATEWAY_PORT="$port" BIND_HOST=127.0.0.1 MINISTACK_REGION=eu-west-1 MINISTACK_ACCOUNT_ID=000000000000 \
    AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_ENDPOINT_URL="$endpoint" \
    DOCKER_HOST=unix:///nonexistent TMPDIR="$dir" S3_DATA_DIR="$dir/s3" \
    setsid "$venv/bin/ministack" >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { curl -fsS -m 2 -o /dev/null "$endpoint/_ministack/health" 2>/dev/null; }

main "$1"
