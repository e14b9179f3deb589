#!/usr/bin/env bash
# LocalStack for a tester: it stays up until it is stopped, and so does what was deployed.
#   local.sh start    LocalStack on http://localhost:4566 and a Redis, and a Docker daemon where none runs; nothing when they run
#   local.sh deploy   the system as a sandbox, or what has changed of it; to the LocalStack of compose.yaml when that one runs
#   local.sh stop     what start started; all that was in them is gone
# HOLD says how long an unpaid order keeps its units (2m if nothing; else 20s, 5m, …), STACK another name than seckill.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
# shellcheck source=localstack.sh
. "$here/localstack.sh"
dir=$tools/localstack-run
LOCALSTACK_PORT=4566
export HOLD=${HOLD:-2m}
stack=${STACK:-seckill}
mkdir -p "$dir"

answers() { curl -fsS -m 5 -o /dev/null "http://127.0.0.1:$LOCALSTACK_PORT/_localstack/health" 2>/dev/null; }

case $1 in
start)
  need "${needs[@]}"
  if answers; then
    echo "LocalStack answers on http://localhost:$LOCALSTACK_PORT already"
  else
    trap '[ $? = 0 ] || down' EXIT
    up
    echo "LocalStack $AWS_ENDPOINT_URL and Redis $redis are up after $SECONDS s; make localstack-deploy deploys, make localstack-stop ends them"
  fi
  ;;
deploy)
  need go curl python
  answers || { echo "no LocalStack answers on http://localhost:$LOCALSTACK_PORT: make localstack" >&2; exit 1; }
  standin "http://127.0.0.1:$LOCALSTACK_PORT"
  if [ -f "$dir/localstack/localstack.pid" ]; then
    redis=$(cat "$dir/redis.address")
    names "$LOCALSTACK_PORT"
  else # compose.yaml's names
    redis=valkey:6379
    url="http://localhost.localstack.cloud:$LOCALSTACK_PORT/_aws/execute-api/{ApiId}/{ApiStage}"
  fi
  build
  secrets "$stack"
  deploy_stack "$stack"
  base=$("$tools/stackfile" -stack "$stack" -url "$url" -o "$dir/$stack.json")
  cat <<END
deployed in $SECONDS s
  API      $base
  try      curl -s $base/seckill/ing
  sell     AWS_ENDPOINT_URL=$AWS_ENDPOINT_URL AWS_REGION=$AWS_REGION AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test bin/seckill items --stack $stack import items.csv
  shopper  AWS_ENDPOINT_URL=$AWS_ENDPOINT_URL AWS_REGION=$AWS_REGION AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test bin/seckill token --path /seckill/$stack --user 1
END
  ;;
stop) down ;;
*)
  echo "local.sh: start, deploy or stop, not $1" >&2
  exit 2
  ;;
esac
