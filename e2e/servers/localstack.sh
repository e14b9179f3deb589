#!/usr/bin/env bash
# LocalStack 4.14.0 (PyPI; the last one that needs no account) on this machine, with Lambda functions in Docker containers, and without a container
# registry: what its image brings along is made here.
#   localstack.sh start DIR   installs it into .tools/ once, starts it on a free port of loopback and of the Docker bridge, prints the endpoint;
#                             pid, log and whatever it writes are in DIR
#   localstack.sh install DIR installs it, which start does, too
#   localstack.sh stop DIR    stops that one, its database and its containers
# PORT of the environment is a fixed port. State is in memory: a new start is an empty one.
# Needs Python 3.11 or newer with venv, Java 17 or newer, npm, Go, docker, busybox-static, and a Docker daemon that answers.
set -euo pipefail
VERSION=4.14.0
INIT=v0.1.41-pre # what LocalStack calls process 1 of its containers
[ $# = 2 ] || { sed -n '2,9s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=localstack patience=180 grace=60
own=$here/../localstack
home=$tools/localstack-$VERSION
lib=$home/lib-localstack # LocalStack looks here for what it would download
image=seckill-lambda:al2023

fill() {
  echo "installing LocalStack $VERSION into .tools, once" >&2
  packages "$home" "$own/requirements.txt"
  "$home/bin/python" "$own/backport.py" "$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  mkdir -p "$lib/dynamodb-local"
  ln -sfn "$("$here/dynamodb.sh" home local)" "$lib/dynamodb-local/2"
}

# java_wrapper makes what LocalStack starts DynamoDB Local with: this machine's Java, without the agent that LocalStack would download (it allows more indexes).
java_wrapper() {
  mkdir -p "$lib/java/21/bin"
  cat >"$lib/java/21/bin/java" <<END
#!/usr/bin/env bash
for argument; do
  shift
  case \$argument in
  -javaagent:*) ;;
  *) set -- "\$@" "\$argument" ;;
  esac
done
exec $(readlink -f "$(command -v java)") "\$@"
END
  chmod +x "$lib/java/21/bin/java"
}

install() {
  need go python java npm docker busybox
  once "$home" fill
  docker info >/dev/null 2>&1 || { echo "no Docker daemon answers: e2e/servers/docker.sh start DIR starts one" >&2; return 1; }
  java_wrapper
  local rapid
  rapid=$lib/lambda-runtime/$INIT/$(uname -m | sed 's/aarch64/arm64/')/var/rapid
  mkdir -p "$rapid"
  (cd "$own/init" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$rapid/init" .)
  "$own/image.sh" "$image"
}

launch() {
  local bridge
  bridge=$(bridge_address)
  mkdir -p "$dir/fs/var/lib/localstack"
  echo "seckill-localstack-$port" >"$dir/containers"
  ln -sfn "$lib" "$dir/fs/var/lib/localstack/lib"
  env FILESYSTEM_ROOT="$dir/fs" TMPDIR="$dir" MAIN_CONTAINER_NAME="seckill-localstack-$port" \
    GATEWAY_LISTEN="127.0.0.1:$port,$bridge:$port" LOCALSTACK_HOST="localhost:$port" \
    HOSTNAME_FROM_LAMBDA="$bridge" LAMBDA_DOCKER_NETWORK=bridge SQS_ENDPOINT_STRATEGY=path \
    LAMBDA_RUNTIME_IMAGE_MAPPING="{\"provided.al2023\":\"$image\"}" \
    OVERRIDE_IN_DOCKER=0 DNS_ADDRESS=0 SKIP_SSL_CERT_DOWNLOAD=1 DISABLE_EVENTS=1 DYNAMODB_IN_MEMORY=1 \
    CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES=0 \
    setsid "$home/bin/python" "$own/run.py" >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { curl -fsS -m 5 -o /dev/null "$endpoint/_localstack/health" 2>/dev/null; }

# LocalStack leaves its functions' containers behind when it ends while they are busy.
remove() {
  local name
  name=$(cat "$dir/containers" 2>/dev/null) || return 0
  docker ps -aq --filter "name=^$name-" | xargs -r docker rm -f >/dev/null
}

main "$1"
[ "$1" != stop ] || remove
