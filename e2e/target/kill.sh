#!/usr/bin/env bash
# Kills what runs a function, in the midst of what it does. Nothing runs: that is no error.
#   kill.sh process PID FUNCTION        processes below PID that Lambda's variable says are FUNCTION's
#   kill.sh container PREFIX FUNCTION   containers whose name begins with PREFIX-FUNCTION-
set -euo pipefail
[ $# = 3 ] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
case $1 in
process)
  for status in $(grep -sl "^PPid:[[:space:]]*$2\$" /proc/[0-9]*/status); do
    pid=$(basename "$(dirname "$status")")
    ! grep -qzx "AWS_LAMBDA_FUNCTION_NAME=$3" "/proc/$pid/environ" 2>/dev/null || kill -9 "$pid" 2>/dev/null || true
  done
  ;;
container)
  docker ps -q --filter "name=^$2-${3,,}-" | xargs -r docker kill >/dev/null 2>&1 || true
  ;;
esac
