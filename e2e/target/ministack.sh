# MiniStack: all of it on loopback, functions as plain processes. Sourced by run.sh.
needs=(go curl python redis)
stacks=(seckill-a seckill-b)
limits=full

up() {
  # A Redis for each stack: keys do not say whose item it is.
  local stack
  for stack in "${stacks[@]}"; do "$servers/redis.sh" start "$dir/redis-$stack" >"$dir/$stack.redis"; done
  redis="{RedisEndpoint}" # functions and the suite reach it alike
  standin "$("$servers/ministack.sh" start "$dir/ministack")"
  url="$AWS_ENDPOINT_URL/_aws/execute-api/{ApiId}/{ApiStage}"
  kill="'$here/kill.sh' process $(cat "$dir/ministack/ministack.pid") \"\$@\""
}

# cognito ACTION JSON: calls the pools' service, unsigned.
cognito() {
  curl -fsS -H "X-Amz-Target: AWSCognitoIdentityProviderService.$1" -H 'Content-Type: application/x-amz-json-1.1' -d "$2" "$AWS_ENDPOINT_URL/"
}

# staff STACK PUBLIC: makes a pool of staff's accounts; prints it as StaffIssuer writes it.
staff() {
  local pool client
  pool=$(cognito CreateUserPool "{\"PoolName\": \"$1-staff\"}" | grep -o "${AWS_REGION}_[A-Za-z0-9]*" | head -n 1)
  client=$(cognito CreateUserPoolClient "{\"UserPoolId\": \"$pool\", \"ClientName\": \"office\", \"AllowedOAuthFlows\": [\"code\"],
    \"AllowedOAuthFlowsUserPoolClient\": true, \"AllowedOAuthScopes\": [\"openid\"], \"CallbackURLs\": [\"$2/admin/callback\"]}" |
    grep -o '"ClientId": *"[^"]*"' | cut -d '"' -f 4)
  echo "https://cognito-idp.$AWS_REGION.amazonaws.com/$pool|$client|$AWS_ENDPOINT_URL/$pool"
}

# The API has the id that the tag says, so that functions can be told its address before there is an API.
deploy_stack() {
  local id=${1//-/}
  mapfile -t parameters < <(parameters "$1" "$(cat "$dir/$1.redis")")
  local base=$AWS_ENDPOINT_URL/_aws/execute-api/$id/live
  local public=$base
  # What has no key is refused; the suite has it. The gateway's own address, Alipay's way in, is nowhere here. The shop's
  # is that of the stand-in for the CDN, which the suite starts there.
  if [ "$1" = seckill-b ]; then
    public=http://127.0.0.1:$(free_port)
    parameters+=(Edge=only "ApiUrl=$base")
  fi
  # MiniStack's Cognito and WebSocket APIs name AWS as their host and answer here.
  parameters+=(CreateIdentity=true CreatePush=true "StandIn=${AWS_ENDPOINT_URL#http://}" "StaffIssuer=$(staff "$1" "$public")" RefundAlone=yuan=100,daily=0)
  TAGS="ms-custom-id=$id" "$here/deploy.sh" "$1" "${parameters[@]}" "PublicUrl=$public"
}

update_command() { echo "TAGS=ms-custom-id=${1//-/} '$here/deploy.sh' $1 \"\$@\""; }

down() {
  "$servers/ministack.sh" stop "$dir/ministack" || true
  local stack
  for stack in "${stacks[@]}"; do "$servers/redis.sh" stop "$dir/redis-$stack" || true; done
}
