#!/usr/bin/env bash
# MiniStack (PyPI), a stand-in for AWS on one port: SQS for tests with the build tag "real", and whole stacks, whose functions run as plain processes.
#   ministack.sh start DIR          installs it into .tools/ once, starts it on a free port of loopback, prints the endpoint;
#                                   pid, log and whatever it writes are in DIR
#   ministack.sh start DIR bridge   on the Docker bridge instead, where containers reach it
#   ministack.sh install DIR        installs it, which start does, too
#   ministack.sh stop DIR           stops that one, and the functions
# PORT of the environment is a fixed port. Needs Python 3.11 or newer with venv. State is in memory: a new start is an empty one.
set -euo pipefail
[ $# = 2 ] || [ "$#,${1-},${3-}" = 3,start,bridge ] || { sed -n '2,8s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
VERSION=$(pinned ministack.txt ministack)
TRANSLATOR=$(pinned ministack.txt aws-sam-translator) # for templates of SAM
CBOR2=$(pinned ministack.txt cbor2)                   # in which newer SDKs talk to CloudWatch
CRYPTOGRAPHY=$(pinned ministack.txt cryptography)     # without it, Cognito signs its tokens with random bytes
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=ministack host=127.0.0.1
[ -z "${3-}" ] || host=$(bridge_address)
venv=$tools/ministack-$VERSION-sam-$TRANSLATOR-cbor2-$CBOR2-cryptography-$CRYPTOGRAPHY-nested-subprotocol

fill() {
  echo "installing MiniStack $VERSION into .tools, once" >&2
  packages "$venv" "$here/pinned/ministack.txt"
  local library
  library=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  # The runtime API that functions ask writes head and body of an answer apart, which Nagle's algorithm makes 40 ms of each call.
  echo 'import socketserver; socketserver.StreamRequestHandler.disable_nagle_algorithm = True' >"$library/sitecustomize.py"
  # After each call it waits for a function's first line of log, 50 ms when there is none. A later line is not lost: it counts as the next call's.
  sed -i 's/first_line_wait: float = 0\.050/first_line_wait: float = 0.005/' "$library/ministack/core/lambda_runtime.py"
  # A nested stack: its template is processed as the outermost one is, SAM is told the parameters, and what an update leaves alone keeps its attributes.
  sed -i -e 's/^    from ministack\.services\.cloudformation\.engine import ($/&\n        _apply_transforms,/' \
    -e 's/^    template = _parse_template(template_body)$/    given = [{"Key": k, "Value": str(v)} for k, v in (props.get("Parameters") or {}).items()]\n    template = _apply_transforms(_parse_template(template_body), given)/' \
    -e 's/^ *old_tagged, new_tagged, child_name, child_logical_id,$/& prev.get("Attributes"),/' "$library/ministack/services/cloudformation/provisioners.py"
  sed -i 's/_sam_transform(copy.deepcopy(template), {}, /_sam_transform(copy.deepcopy(template), _transform_parameters(template, provided_params, previous_params), /' \
    "$library/ministack/services/cloudformation/engine.py"
  # A WebSocket API answers the subprotocol that its $connect integration answers; without one, browsers end the connection.
  sed -i -e 's/^        connect_route = _match_ws_route(api_id, "\$connect")$/&\n        resp = None/' \
    -e 's/^        await send({"type": "websocket\.accept"})$/        answered = {k.lower(): v for k, v in ((resp or {}).get("headers") or {}).items()}\n        await send({"type": "websocket.accept", "subprotocol": answered.get("sec-websocket-protocol")})/' \
    "$library/ministack/services/apigateway.py"
}

install() {
  need curl python
  once "$venv" fill
}

launch() {
  # Functions inherit this environment: nothing of the caller's is in it. DOCKER_HOST at nothing: no Docker daemon of this machine must be touched.
  env -i PATH="$PATH" HOME="$dir" GATEWAY_PORT="$port" BIND_HOST="$host" MINISTACK_HOST="$host" MINISTACK_REGION=eu-west-1 MINISTACK_ACCOUNT_ID=000000000000 \
    AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_ENDPOINT_URL="$endpoint" \
    LAMBDA_EXECUTOR=local LAMBDA_WARM_TTL_SECONDS=3600 DOCKER_HOST=unix:///nonexistent TMPDIR="$dir" S3_DATA_DIR="$dir/s3" STATE_DIR="$dir/state" \
    setsid "$venv/bin/ministack" >"$dir/$name.log" 2>&1 </dev/null &
}

healthy() { curl -fsS -m 2 -o /dev/null "$endpoint/_ministack/health" 2>/dev/null; }

main "$1"
