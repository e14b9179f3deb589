#!/usr/bin/env bash
# The Docker daemon, where none runs (and nothing restarts it): for Lambda containers of LocalStack and of `sam local`.
#   docker.sh start DIR   starts one when none answers; pid and log are in DIR
#   docker.sh stop DIR    stops that one, not another
# Needs docker (apt-get install docker.io) and, to start it, root.
set -euo pipefail
[ $# = 2 ] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=docker grace=20

install() {
  need docker
  has dockerd || { echo "no Docker daemon answers, and there is none to start: apt-get install docker.io" >&2; return 1; }
  [ "$(id -u)" = 0 ] || { echo "no Docker daemon answers, and only root can start one: sudo dockerd" >&2; return 1; }
}

launch() { setsid dockerd >"$dir/$name.log" 2>&1 </dev/null & }

healthy() { docker info >/dev/null 2>&1; }

if [ "$1" = start ] && healthy; then
  exit 0
fi
main "$1" >/dev/null
