#!/usr/bin/env bash
# Deploys what was built to the stand-in for AWS at AWS_ENDPOINT_URL, or updates what is deployed; prints what happened only when it failed.
#   deploy.sh STACK [KEY=VALUE…]   parameters that are not named keep their values
# TAGS of the environment are tags of the stack (Key=Value …).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
[ -n "${AWS_ENDPOINT_URL-}" ] || { echo "deploy.sh: AWS_ENDPOINT_URL is missing; make deploy ENV=… deploys to AWS" >&2; exit 2; }
stack=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
options=(--config-file "$here/samconfig.toml" --template-file "$built/template.yaml" --stack-name "$stack" --s3-prefix "$stack")
# shellcheck disable=SC2206
[ -z "${TAGS-}" ] || options+=(--tags $TAGS)
set -- "$@" "Deployment=$("$tools/stack" deployment -built "$built" -stack "$stack" -region "$AWS_REGION" "$@")"
options+=(--parameter-overrides "$@")
curl -sS -o /dev/null -X PUT "$AWS_ENDPOINT_URL/sam-artifacts" # the bucket, which may be there
# Whoever waits for a stand-in that hangs waits for ever.
SAM_CLI_POLL_DELAY=1 timeout 900 "$servers/sam.sh" deploy "${options[@]}" >"$log" 2>&1 || {
  echo "sam deploy of $stack failed:" >&2
  tail -n 60 "$log" >&2
  exit 1
}
