#!/usr/bin/env bash
# MiniStack (PyPI) as a stand-in for SQS and other AWS services, for tests with the build tag "real".
#   ministack.sh start DIR   installs it into .tools/ once, starts it on a free port of loopback, prints the endpoint;
#                            pid, log and whatever it writes are in DIR
#   ministack.sh stop DIR    stops that one
# Needs Python 3.10 or newer with venv. State is in memory: a new start is an empty one.
set -euo pipefail
VERSION=1.5.33
[ $# = 2 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
action=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.tools
venv=$tools/ministack-$VERSION

install() {
  mkdir -p "$tools"
  exec 9>"$tools/ministack.lock" # two checks at once must not both fill it
  flock 9
  if [ ! -f "$venv/.done" ]; then
    echo "installing MiniStack $VERSION into .tools, once" >&2
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check "ministack==$VERSION" >&2
    touch "$venv/.done"
  fi
  exec 9>&-
}

healthy() { curl -fsS -m 2 -o /dev/null "$1/_ministack/health" 2>/dev/null; }

start() {
  local port endpoint
  port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  endpoint=http://127.0.0.1:$port
  # DOCKER_HOST at nothing: it must never touch a Docker daemon of this machine.
  env GATEWAY_PORT="$port" BIND_HOST=127.0.0.1 MINISTACK_REGION=eu-west-1 MINISTACK_ACCOUNT_ID=000000000000 \
    AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_ENDPOINT_URL="$endpoint" \
    DOCKER_HOST=unix:///nonexistent TMPDIR="$dir" S3_DATA_DIR="$dir/s3" \
    setsid "$venv/bin/ministack" >"$dir/ministack.log" 2>&1 </dev/null &
  echo $! >"$dir/ministack.pid"
  for _ in $(seq 150); do
    if healthy "$endpoint"; then
      echo "$endpoint"
      return
    fi
    kill -0 "$(cat "$dir/ministack.pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "ministack.sh: MiniStack did not come up:" >&2
  tail -n 20 "$dir/ministack.log" >&2
  stop
  return 1
}

stop() {
  [ -f "$dir/ministack.pid" ] || return 0
  local pid
  pid=$(cat "$dir/ministack.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$dir/ministack.pid"
}

case $action in
start)
  stop
  install
  start
  ;;
stop) stop ;;
*)
  echo "ministack.sh: start or stop, not $action" >&2
  exit 2
  ;;
esac
