# Sourced by .ci/run and .ci/nightly: runs a script's stages, and prints a table of their results and times when the script ends.
#   stage NAME COMMAND…     runs the command. If it fails, the script ends, unless keep_going=yes: then the other stages still run.
# The script's exit code is 1 if any stage failed.
stages=() failed=0 keep_going=${keep_going-no}
begun=$SECONDS

stage() {
  local name=$1 from=$SECONDS result=ok
  shift
  printf '\n=== %s\n' "$name"
  "$@" || { result=FAILED failed=1; }
  stages+=("$(printf '%-42s %-8s %3d:%02d' "$name" "$result" $(((SECONDS - from) / 60)) $(((SECONDS - from) % 60)))")
  [ "$result" = ok ] || [ "$keep_going" = yes ] || exit 1
}

finish() {
  local code=$?
  stages+=("$(printf '%-42s %-8s %3d:%02d' "in all" "" $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60)))")
  printf '\n%-42s %-8s %s\n' "stage" "result" "min:s"
  printf '%s\n' "${stages[@]}"
  [ "$code" != 0 ] || code=$failed
  exit "$code"
}
trap finish EXIT
