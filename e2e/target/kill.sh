#!/usr/bin/env bash
# Freezes and kills what runs a function, in the midst of what it does. Nothing runs: that is not an error.
#   kill.sh process PID FUNCTION ACTION        processes below PID that Lambda's variable says are FUNCTION's
#   kill.sh container PREFIX FUNCTION ACTION   containers whose name begins with PREFIX-FUNCTION-
# ACTION is freeze, or the seconds for which they go on before they are killed.
set -euo pipefail
[ $# = 4 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
case $1 in
process)
  found=()
  for status in $(grep -sl "^PPid:[[:space:]]*$2\$" /proc/[0-9]*/status); do
    pid=$(basename "$(dirname "$status")")
    ! grep -qzx "AWS_LAMBDA_FUNCTION_NAME=$3" "/proc/$pid/environ" 2>/dev/null || found+=("$pid")
  done
  freeze=(kill -STOP) go_on=(kill -CONT) end=(kill -9)
  ;;
container)
  mapfile -t found < <(docker ps -q --filter "name=^$2-${3,,}-")
  freeze=(docker pause) go_on=(docker unpause) end=(docker kill)
  ;;
esac
[ ${#found[@]} -gt 0 ] || exit 0
if [ "$4" = freeze ]; then
  "${freeze[@]}" "${found[@]}" >/dev/null 2>&1 || true
else
  "${go_on[@]}" "${found[@]}" >/dev/null 2>&1 || true
  sleep "$4"
  "${end[@]}" "${found[@]}" >/dev/null 2>&1 || true
fi
