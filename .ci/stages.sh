# Sourced by .ci/run and .ci/nightly: runs a script's stages, and prints a table of their results and times when the script ends.
#   stage NAME COMMAND…     runs the command. If it fails, the script ends, unless keep_going=yes: then the other stages still run.
# The script's exit code is 1 if any stage failed.
stages=() failed=0 keep_going=${keep_going-no}
begun=$SECONDS

# ticks prints how long the machine's processors have been busy, and idle, in hundredths of a second.
ticks() {
  local user nice system idle iowait irq softirq steal
  read -r _ user nice system idle iowait irq softirq steal _ </proc/stat
  echo $((user + nice + system + irq + softirq + steal)) $((idle + iowait))
}

stage() {
  local name=$1 from=$SECONDS result=ok before after
  shift
  read -ra before < <(ticks)
  printf '\n=== %s\n' "$name"
  "$@" || { result=FAILED failed=1; }
  read -ra after < <(ticks)
  local busy=$((after[0] - before[0])) idle=$((after[1] - before[1]))
  stages+=("$(printf '%-42s %-8s %3d:%02d %4d %%' "$name" "$result" $(((SECONDS - from) / 60)) $(((SECONDS - from) % 60)) $((busy * 100 / (busy + idle + 1))))")
  [ "$result" = ok ] || [ "$keep_going" = yes ] || exit 1
}

finish() {
  local code=$?
  stages+=("$(printf '%-42s %-8s %3d:%02d' "in all" "" $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60)))")
  printf '\n%-42s %-8s %s\n' "stage" "result" "min:s  busy"
  printf '%s\n' "${stages[@]}"
  [ "$code" != 0 ] || code=$failed
  exit "$code"
}
trap finish EXIT
