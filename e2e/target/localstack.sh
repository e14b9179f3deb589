# LocalStack without its container, functions in containers. Sourced by run.sh and local.sh.
needs=(go curl python redis npm java busybox docker)
stacks=(seckill-a)
limits=small

up() {
  "$servers/docker.sh" start "$dir/docker"
  redis=$("$servers/redis.sh" start "$dir/redis" bridge) # an address that containers and tests reach
  echo "$redis" >"$dir/redis.address"
  standin "$(PORT=${LOCALSTACK_PORT-} "$servers/localstack.sh" start "$dir/localstack")"
  names "${AWS_ENDPOINT_URL##*:}"
}

# names PORT: what follows from LocalStack's port.
names() {
  url="http://${redis%:*}:$1/_aws/execute-api/{ApiId}/{ApiStage}"
  kill="'$here/kill.sh' container seckill-localstack-$1-lambda \"\$@\""
}

# The API of a LocalStack that run.py started has the id that follows from the stack's name. Another has its id, and with it its address, from the first
# deployment.
deploy_stack() {
  mapfile -t parameters < <(parameters "$1" "$redis")
  local likely=${url/\{ApiId\}/${1//-/}} public
  likely=${likely/\{ApiStage\}/live}
  "$here/deploy.sh" "$1" "${parameters[@]}" "PublicUrl=$likely"
  public=$("$root/.tools/stackfile" -stack "$1" -url "$url" -o "$dir/$1.json")
  [ "$public" = "$likely" ] || "$here/deploy.sh" "$1" "PublicUrl=$public"
}

update_command() { echo "'$here/deploy.sh' $1 \"\$@\""; }

down() {
  "$servers/localstack.sh" stop "$dir/localstack" || true
  "$servers/redis.sh" stop "$dir/redis" || true
  "$servers/docker.sh" stop "$dir/docker" || true
}
