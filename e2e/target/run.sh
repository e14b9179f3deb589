#!/usr/bin/env bash
# The end-to-end suite on a stack that is deployed for it: starts the servers, builds, makes secrets, deploys, tests, stops everything it started.
#   run.sh ministack|localstack|samlocal|aws [flags of go test]
#   run.sh ministack|localstack|samlocal|aws -- COMMAND…    runs that instead of the suite, with the suite's environment
#   run.sh build                                            only builds; then BUILT=yes of the environment is for those that deploy it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${1-}
case $target in
build | ministack | localstack | samlocal | aws) shift ;;
*)
  sed -n '2,5s/^# \?//p' "$0" >&2
  exit 2
  ;;
esac
# shellcheck source=lib.sh
. "$here/lib.sh"
dir=$(mktemp -d)
if [ "$target" = build ]; then
  need go python
  trap 'rm -rf "$dir"' EXIT
  build
  exit
fi
# shellcheck disable=SC1090
. "$here/$target.sh"
need "${needs[@]}"
times=""

# part NAME COMMAND…: how long each part took is told at the end.
part() {
  local from=$SECONDS what=$1
  shift
  echo "$target: $what" >&2
  "$@"
  times+=", $what $((SECONDS - from)) s"
}

finish() {
  local status=$?
  trap '' INT TERM
  if [ "$status" != 0 ] && [ -n "${AWS_ENDPOINT_URL-}" ]; then
    for stack in "${stacks[@]}"; do logs "$stack"; done
    ! [ -f "$dir/$target/$target.log" ] || { echo "--- last troubles of $target"; grep -E ' (WARNING|ERROR) |Error|Traceback' "$dir/$target/$target.log" | cut -c1-300 | tail -n 30; } >&2
  fi
  down
  rm -rf "$dir"
  echo "$target: ${times#, }; $SECONDS s in all" >&2
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# each FUNCTION: for all stacks, at the same time.
each() {
  local stack pids=() status=0
  for stack in "${stacks[@]}"; do
    "$1" "$stack" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return "$status"
}

describe() {
  "$root/.tools/stackfile" -stack "$1" -o "$dir/$1.json" -url "$url" -redis "$redis" -kill "$kill" -update "$(update_command "$1")" \
    -limits "$limits" -target "$target" >"$dir/$1.url"
  echo "$target: $1 is on $(cat "$dir/$1.url")" >&2
}

suite() {
  export SECKILL_E2E_STACK=$dir/${stacks[0]}.json
  [ ${#stacks[@]} = 1 ] || export SECKILL_E2E_STACK2=$dir/${stacks[1]}.json
  cd "$root"
  if [ "${1-}" = -- ]; then
    "${@:2}"
  else
    go test -tags e2e -count=1 -timeout 60m "$@" ./e2e/suite
  fi
}

part servers up
[ -n "${BUILT-}" ] || part build build
part secrets each secrets
part deploy each deploy_stack
each describe
part suite suite "$@"
