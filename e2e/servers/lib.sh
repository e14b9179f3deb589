# What the start scripts share; sourced. The caller sets dir, and name (of pid and log file in it), and defines install, launch (starts the server in the
# background on $port, its output to $dir/$name.log) and healthy (whether $endpoint answers).

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

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
  port=$(free_port)
  endpoint=http://127.0.0.1:$port
  launch
  echo $! >"$dir/$name.pid"
  for _ in $(seq 300); do
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

stop() {
  [ -f "$dir/$name.pid" ] || return 0
  local pid
  pid=$(cat "$dir/$name.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$dir/$name.pid"
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
