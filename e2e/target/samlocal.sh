# `sam local`: the API's functions in containers behind SAM's local API, everything else (tables, queues, secrets, the functions on queues and schedules)
# in MiniStack, where the same stack is deployed. Sourced by run.sh.
needs=(go curl python redis busybox docker)
stacks=(seckill-a)
limits=small
image=public.ecr.aws/lambda/provided:al2023-$architecture # the name that sam looks for; the platform is part of it
name=samlocal                                             # of pid and log file: see servers/lib.sh
patience=180 grace=60

# SAM's containers are on the bridge, whatever --docker-network says.
up() {
  "$servers/docker.sh" start "$dir/docker"
  redis=$("$servers/redis.sh" start "$dir/redis" bridge)
  standin "$("$servers/ministack.sh" start "$dir/ministack" bridge)"
  host=$(bridge_address)
  port=$(free_port)
  url=http://$host:$port
  kill="" # a killed container is not started again
  # --env-vars passes only what the template declares: where AWS is has to be in the image.
  docker image rm -f "${image/al2023-/al2023-rapid-}" >/dev/null 2>&1 || true # sam's own layer over the image that was there
  "$here/../localstack/image.sh" "$image" "AWS_ENDPOINT_URL=$AWS_ENDPOINT_URL"
}

deploy_stack() {
  mapfile -t parameters < <(parameters "$1" "$redis")
  "$here/deploy.sh" "$1" "${parameters[@]}" "PublicUrl=$url"
  "$tools/stackfile" -stack "$1" -url "$url" -o "$dir/$1.json" -environment "$dir/environment.json" >/dev/null
  PORT=$port start >/dev/null
}

launch() {
  local python
  python=$("$servers/sam.sh" --python)
  SAM_CLI_TELEMETRY=0 SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS=1 setsid "$python" "$here/samlocal.py" local start-api --config-file "$here/samconfig.toml" --template "$built/template.yaml" \
    --env-vars "$dir/environment.json" --parameter-overrides "${parameters[@]}" --host "$host" --port "$port" --skip-pull-image --warm-containers EAGER \
    >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { curl -fsS -m 20 -o /dev/null "$endpoint/healthz" 2>/dev/null; }

update_command() { :; }

down() {
  stop
  local folder # SAM leaves containers that were starting
  for folder in "$built"/*/*Function; do
    docker ps -aq --filter "volume=$folder" 2>/dev/null | xargs -r docker rm -f >/dev/null 2>&1 || true
  done
  "$servers/ministack.sh" stop "$dir/ministack" || true
  "$servers/redis.sh" stop "$dir/redis" || true
  docker image rm "$image" "${image/al2023-/al2023-rapid-}" >/dev/null 2>&1 || true
  "$servers/docker.sh" stop "$dir/docker" || true
}
