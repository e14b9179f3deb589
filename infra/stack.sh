#!/usr/bin/env bash
# What is done with a deployed stack, by the environments of samconfig.toml.
#   stack.sh deploy ENV RELEASE     what `make functions` built
#   stack.sh destroy ENV [delete]   deletes the stack. Its tables stay, unless "delete" is said and it is a sandbox
#   stack.sh logs ENV [FUNCTION]    follows the logs of all functions, or of one (BuyFunction, …), and of the API
#   stack.sh urls ENV               addresses for curl
# ENV default is a stand-in on this machine, at AWS_ENDPOINT_URL. SAM says which SAM CLI; without it the pinned one is installed into .tools.
# A shop (no sandbox) is asked about first: its name typed or in CONFIRM; refused while it is at work (BUSY=true deploys).
# OVERRIDES ("Name=value Name=value", as seckill plan --overrides prints) go before samconfig.toml's parameters.
# EDGE=true puts the CDN of infra/edge.yaml in front, a stack of its own in us-east-1; it then stays up to date with each deployment.
# EDGE_DOMAIN and EDGE_CERTIFICATE (ACM, us-east-1) are its own name; EDGE_KEY=a or b says which of its two keys it sends;
# EDGE_SHARE (percent) how much of the API's throttles one network address may use before WAF refuses it; EDGE_SUBDOMAINS=true or false
# whether HSTS covers the subdomains of its name.
# STACK and REGION replace those of samconfig.toml; ARCH says what was built for (arm64 if nothing), GRADUAL=true or false whether traffic is
# shifted to the release step by step (as samconfig.toml says if nothing).
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,16s/^# \?//p' "$0" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
action=$1 env=$2 more=${3-}
SAM=${SAM:-e2e/servers/sam.sh}
export SAM_CLI_TELEMETRY=0 SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS=1
command -v "$SAM" >/dev/null || { echo "$action: $SAM is missing, AWS's deploy tool: leave SAM out, or pip install aws-sam-cli" >&2; exit 1; }

setting() { sed -n "/^\[$env\.global\.parameters\]/,/^\[$env\.[^g]/s/^$1 = \"\(.*\)\"/\1/p" samconfig.toml; }
# overrides: the parameters of samconfig.toml, a line each
overrides() { sed -n "/^\[$env\.deploy\.parameters\]/,/^\[/{/^parameter_overrides/,/^\]/s/^ *\"\([A-Za-z]*=.*\)\",\{0,1\}\$/\1/p}" samconfig.toml; }
grep -q "^\[$env\.global\.parameters\]" samconfig.toml || { echo "$action: samconfig.toml has no environment $env" >&2; exit 2; }
if [ "$env" = default ]; then
  [ -n "${AWS_ENDPOINT_URL-}" ] || { echo "$action: AWS_ENDPOINT_URL is not set, where AWS's stand-in listens; for AWS itself say ENV=dev, ENV=staging or ENV=prod" >&2; exit 2; }
  export AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID:-test} AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY:-test}
fi
stack=${STACK:-$(setting stack_name)}
region=${REGION:-$(setting region)}

outputs() { "$SAM" list stack-outputs --stack-name "$stack" --region "$region" --output json; }
# output NAME: one output's value, from what outputs wrote
output() { tr -d '\n' | sed -n "s/.*\"OutputKey\": \"$1\", *\"OutputValue\": \"\([^\"]*\)\".*/\1/p"; }

# guard ACTION [PARAMETER…]: ends here, unless it may be done with this stack
guard() {
  [ "$env" = default ] || go run ./infra/stack guard "$1" -stack "$stack" -region "$region" "${@:2}"
}

# cdn deploy|url|destroy: the CDN in front of the stack
cdn() {
  go run ./infra/stack cdn "$1" -stack "$stack" -region "$region" ${EDGE_KEY:+-key "$EDGE_KEY"} ${EDGE_SHARE:+-share "$EDGE_SHARE"} \
    ${EDGE_SUBDOMAINS:+-subdomains "$EDGE_SUBDOMAINS"} \
    ${EDGE_DOMAIN:+"DomainName=$EDGE_DOMAIN"} ${EDGE_CERTIFICATE:+"CertificateArn=$EDGE_CERTIFICATE"}
}

# give NAME=VALUE: a parameter of this deployment, in the place of one with the same name
give() { mapfile -t given < <(printf '%s\n' "${given[@]}" | { grep -v "^${1%%=*}=" || true; }; echo "$1"); }

# quoted NAME=VALUE…: prints each on a line, in quotes where it needs them: SAM's parser of overrides ends a plain value at a space
quoted() {
  local p v
  for p; do
    v=${p#*=}
    [[ $v != *[[:space:]\"]* ]] || p="${p%%=*}=\"${v//\"/\\\"}\""
    printf '%s\n' "$p"
  done
}

# release [PARAMETER…]: deploys what was built with the parameters given so far and these, and protects a shop's tables once they are there
release() {
  local p values
  for p in "$@" $(guard shields); do give "$p"; done
  give "Deployment=$(go run ./infra/stack deployment -built .aws-sam/build -stack "$stack" -region "$region" "${given[@]}")"
  mapfile -t values < <(quoted "${given[@]}")
  "$SAM" deploy --config-file "$PWD/samconfig.toml" --config-env "$env" --stack-name "$stack" --region "$region" \
    --no-confirm-changeset --no-progressbar --parameter-overrides "${values[@]}" || {
    guard failed
    exit 1
  }
}

case $action in
deploy)
  [ -f .aws-sam/build/template.yaml ] || { echo "deploy: nothing is built: make functions" >&2; exit 1; }
  if [ "$env" = default ]; then # its bucket; it is there already after the first time
    curl -sS -o /dev/null -X PUT "$AWS_ENDPOINT_URL/sam-artifacts"
  fi
  mapfile -t given < <(overrides | grep -v '^Release=')
  for o in ${OVERRIDES-}; do
    [[ $o =~ ^[A-Za-z]+=.+$ ]] || { echo "deploy: OVERRIDES has $o: want Name=value" >&2; exit 2; }
    give "$o"
  done
  given+=("Release=$more" "Architecture=${ARCH:-arm64}" ${GRADUAL:+"GradualDeployment=$GRADUAL"})
  guard deploy "${given[@]}"
  url=$(cdn url)
  case ${EDGE-},$url in
  true,) release Edge=key # makes the API keys, one of which the CDN sends
    url=$(cdn deploy) ;;
  false,?*) echo "deploy: $stack has a CDN, which EDGE=false does not remove: leave EDGE out; make destroy removes both" >&2; exit 2 ;;
  esac
  # With a CDN, the API answers only what comes through it.
  release ${url:+"Edge=only" "PublicUrl=$url"}
  [ -z "$url" ] || cdn deploy >/dev/null
  [ -z "$(guard shields)" ] || release
  guard protect
  ;;
destroy)
  guard destroy
  cdn destroy
  exec go run ./infra/stack destroy -stack "$stack" -region "$region" ${more:+-tables}
  ;;
logs)
  exec "$SAM" logs --stack-name "$stack" --region "$region" ${more:+--name "$more"} --tail
  ;;
urls)
  of=$(outputs)
  base=$(output Url <<<"$of")
  if [ "$env" = default ]; then
    base=$AWS_ENDPOINT_URL/_aws/execute-api/$(output ApiId <<<"$of")/$(output ApiStage <<<"$of")
  fi
  echo "shop      $base/"
  echo "API       $base/docs"
  echo "try       curl -s $base/seckill/ing"
  echo "health    curl -s $base/healthz"
  if [ "$(output Sandbox <<<"$of")" = true ]; then
    echo "cashier   $base/cashier"
  fi
  ;;
*)
  echo "stack.sh: deploy, destroy, logs or urls, not $action" >&2
  exit 2
  ;;
esac
