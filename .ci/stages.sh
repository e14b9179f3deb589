# Sourced by .ci/run and .ci/nightly: runs a script's stages, and prints a table of their results and times when the script ends.
#   stage NAME COMMAND…     runs the command. If it fails, the script or its lane ends, unless keep_going=yes: then the other
#                           stages still run.
#   lane COMMAND…           begins a command of one or more stages beside the others; a stage's row is printed when it ends, its
#                           output when the lane ends
#   lanes                   waits for all lanes, then ends the script if one failed
# The script's exit code is 1 if any stage failed.
keep_going=${keep_going-no} failed=0
begun=$SECONDS
table=$(mktemp -d) # rows: a line a stage; of each lane, by its pid, what it printed
: >"$table/rows"
pids=()
exec 3>/dev/null # where a lane prints its rows at once

# ticks prints how long the machine's processors have been busy, and idle, in hundredths of a second.
ticks() {
  local user nice system idle iowait irq softirq steal
  read -r _ user nice system idle iowait irq softirq steal _ </proc/stat
  echo $((user + nice + system + irq + softirq + steal)) $((idle + iowait))
}
read -ra start < <(ticks)

# row NAME RESULT SECONDS BUSY IDLE prints a line of the table; BUSY and IDLE are ticks since the stage began.
row() { printf '%-42s %-8s %3d:%02d %4d %%\n' "$1" "$2" $(($3 / 60)) $(($3 % 60)) $(($4 * 100 / ($4 + $5 + 1))); }

stage() {
  local name=$1 from=$SECONDS result=ok before after
  shift
  read -ra before < <(ticks)
  printf '\n=== %s\n' "$name"
  "$@" || result=FAILED failed=1
  read -ra after < <(ticks)
  row "$name" $result $((SECONDS - from)) $((after[0] - before[0])) $((after[1] - before[1])) | tee -a "$table/rows" >&3
  [ "$result" = ok ] || [ "$keep_going" = yes ] || exit 1
}

lane() {
  set -m # its own process group, which finish can end
  (
    trap - EXIT
    exec 3>&1
    "$@" >"$table/$BASHPID" 2>&1
    exit "$failed"
  ) &
  set +m
  pids+=($!)
}

lanes() {
  local pid ended left
  printf '\n=== %d lanes side by side\n' "${#pids[@]}"
  while [ ${#pids[@]} != 0 ]; do
    wait -n -p ended "${pids[@]}" || failed=1
    cat "$table/$ended"
    left=()
    for pid in "${pids[@]}"; do [ "$pid" = "$ended" ] || left+=("$pid"); done
    pids=("${left[@]}")
  done
  [ "$failed" = 0 ] || exit 1
}

finish() {
  local code=$? after pid
  for pid in "${pids[@]}"; do kill -- -"$pid" || true; done
  read -ra after < <(ticks)
  printf '\n%-42s %-8s %s\n' "stage" "result" "min:s  busy"
  cat "$table/rows"
  row "in all" "" $((SECONDS - begun)) $((after[0] - start[0])) $((after[1] - start[1]))
  [ "$failed" = 0 ] || code=1
  rm -rf "$table"
  exit "$code"
}
trap finish EXIT
