#!/usr/bin/env bash
# A Redis that keeps nothing on disk.
#   redis.sh start DIR           on a free port of loopback; prints host:port; pid and log are in DIR
#   redis.sh start DIR bridge    on the Docker bridge as well, for containers; prints that address
#   redis.sh stop DIR            stops that one
# PORT of the environment is a fixed port. Needs redis-server 6 or newer.
set -euo pipefail
[ $# = 2 ] || [ "$#,$1,${3-}" = 3,start,bridge ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=redis host=127.0.0.1
[ -z "${3-}" ] || host=$(bridge_address)

install() { need redis; }

launch() {
  # Without a password it answers other addresses than loopback only when it is not protected. The bridge is this machine's alone.
  # shellcheck disable=SC2046
  setsid redis-server --port "$port" --bind $(printf '%s\n' 127.0.0.1 "$host" | sort -u) --protected-mode no --save '' --appendonly no --dir "$dir" \
    >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { redis-cli -h "$host" -p "$port" ping 2>/dev/null | grep -q PONG; }

main "$1" | sed 's|^http://||'
