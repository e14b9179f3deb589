# What the start scripts share; sourced. The caller sets dir, and name (of pid and log file in it), and defines install, launch (starts the server in the
# background on $host:$port, its output to $dir/$name.log) and healthy (whether $endpoint answers). It may set host, patience (seconds to come up) and
# grace (seconds to end by itself). PORT of the environment is a fixed port.
root=$(cd "$here/../.." && pwd)
tools=$root/.tools

# The address at which containers reach this machine.
bridge_address() {
  ip -4 -o addr show docker0 2>/dev/null | sed -n 's|.*inet \([0-9.]*\)/.*|\1|p' | grep . || echo 172.17.0.1
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# want COMMAND WHY HOW: says in one line what is missing.
want() {
  command -v "$1" >/dev/null || {
    echo "$1 is missing: $2; install it with: $3" >&2
    return 1
  }
}

# once DIR COMMAND…: runs the command unless it was done for DIR before; two checks at once must not both fill it.
once() {
  local home=$1
  shift
  mkdir -p "$(dirname "$home")"
  exec 9>"$home.lock"
  flock 9
  if [ ! -f "$home/.done" ]; then
    "$@"
    touch "$home/.done"
  fi
  exec 9>&-
}

start() {
  port=${PORT:-$(free_port)}
  endpoint=http://${host:-127.0.0.1}:$port
  launch
  echo $! >"$dir/$name.pid"
  for _ in $(seq $((${patience:-60} * 10))); do
    if healthy; then
      echo "$endpoint"
      return
    fi
    kill -0 "$(cat "$dir/$name.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "$name did not come up:" >&2
  tail -n 20 "$dir/$name.log" >&2
  stop
  return 1
}

# stop ends the server, and what it started in its process group (setsid made its pid the group's). A pid that has gone to another process since is no
# group, and is let alone.
stop() {
  [ -f "$dir/$name.pid" ] || return 0
  local pid
  pid=$(cat "$dir/$name.pid")
  rm -f "$dir/$name.pid"
  kill -0 -- "-$pid" 2>/dev/null || return 0
  kill "$pid" 2>/dev/null || true
  for _ in $(seq $((${grace:-5} * 10))); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 -- "-$pid" 2>/dev/null || true
}

# main ACTION: what the script was asked for.
main() {
  case $1 in
  start)
    stop
    install
    start
    ;;
  stop) stop ;;
  *)
    echo "$name: start or stop, not $1" >&2
    exit 2
    ;;
  esac
}
