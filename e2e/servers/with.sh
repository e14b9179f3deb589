#!/usr/bin/env bash
# Runs a command with a DynamoDB-compatible server and an SQS-compatible one, and stops them: with.sh go test -tags real ./...
# Tests find them by SECKILL_TEST_DYNAMODB and SECKILL_TEST_SQS, and start redis-server themselves.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v redis-server >/dev/null || { echo "check: redis-server is missing: apt-get install redis-server (no service needs to run)" >&2; exit 1; }
command -v npm >/dev/null || { echo "check: npm is missing, by which the DynamoDB-compatible server comes: apt-get install nodejs npm" >&2; exit 1; }
python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "check: python3 with venv is missing, in which MiniStack runs: apt-get install python3-venv" >&2; exit 1; }
dir=$(mktemp -d)
stop() {
  "$here/dynamodb.sh" stop "$dir/dynamodb" || true
  "$here/ministack.sh" stop "$dir/sqs" || true
  rm -rf "$dir"
}
trap stop EXIT
SECKILL_TEST_DYNAMODB=$("$here/dynamodb.sh" start "$dir/dynamodb")
SECKILL_TEST_SQS=$("$here/ministack.sh" start "$dir/sqs")
export SECKILL_TEST_DYNAMODB SECKILL_TEST_SQS
"$@"
