# What the scripts of targets share; sourced. The caller sets here.
# shellcheck source=../servers/lib.sh
. "$here/../servers/lib.sh"
servers=$root/e2e/servers
architecture=$(uname -m | sed 's/aarch64/arm64/')
built=$root/.aws-sam/$architecture # beside what is built for AWS
GOFLAGS=$(cat "$root/infra/goflags") # as make compiles
export CGO_ENABLED=0 GOFLAGS

# standin ENDPOINT: from here on AWS is what answers there, and nobody's account.
standin() {
  unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE
  export AWS_ENDPOINT_URL=$1 AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_EC2_METADATA_DISABLED=true
}

# build makes the functions for this machine's processor, and the tools. Not with sam's --cached: it looks for changes in a function's own folder only,
# not in shared/. What has not changed comes from Go's cache.
build() {
  local log=$dir/build.log
  (
    cd "$root"
    go build -o bin/ ./cmd/seckill
    go build -o "$root/.tools/" ./e2e/target/stackfile ./infra/stack
    GOFLAGS="$GOFLAGS -tags=lambda.norpc -ldflags=-s" "$servers/sam.sh" build --config-file "$here/samconfig.toml" --template template.yaml \
      --build-dir "$built" --parallel --parameter-overrides "Architecture=$architecture" >"$log" 2>&1
  ) || {
    tail -n 40 "$log" >&2
    return 1
  }
}

# secrets STACK: makes the secrets that are missing.
secrets() { "$root/bin/seckill" keys --path "/seckill/$1" --sandbox >"$dir/keys-$1.log" 2>&1 || { cat "$dir/keys-$1.log" >&2; return 1; }; }

# parameters STACK REDIS: of a sandbox; a line each.
parameters() {
  printf '%s\n' Sandbox=true "Hold=${HOLD:-20s}" "Architecture=$architecture" "SecretsPath=/seckill/$1" "RedisEndpoint=$2" Retention=logs=1,notifications=1095,addresses=1095,network=0
}

# logs STACK: the last lines that its functions wrote, without those of level INFO: acts alone would fill it. Not with sam's --stack-name: it fails at a WebSocket API, which it takes for an HTTP one.
logs() {
  echo "--- last lines of the functions of $1" >&2
  local main groups=()
  for main in "$root"/functions/*/main.go; do groups+=(--cw-log-group "/aws/lambda/$1-$(basename "$(dirname "$main")")"); done
  timeout 120 "$servers/sam.sh" logs "${groups[@]}" --start-time 30min --output json 2>&1 | grep -vE '"(START|END|REPORT) RequestId|"_aws"|CloudWatchMetrics|level\\*":\\*"INFO' |
    cut -c1-400 | tail -n 40 >&2 || true
}
