#!/usr/bin/env bash
# Starts the built system on a free port and drives its storefront: run.sh BIN OUT [film]. Once per test; stops it by pid.
# npm brings the issuer of signin.mjs and a Node that it runs on.
set -euo pipefail
bin=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")"
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "browser: $tool is missing: apt-get install nodejs npm" >&2; exit 1; }
done
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || { echo "browser: Chromium is missing: apt-get install chromium, or set CHROMIUM" >&2; exit 1; }
[ -d node_modules/playwright-core ] && [ -d node_modules/axe-core ] && [ -d node_modules/oidc-provider ] || npm ci --no-audit --no-fund --silent
node --test
log=$(mktemp)
pid=""
stop() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; }
  pid=""
}
trap 'stop; rm -f "$log"' EXIT
# drive TEST FLAGS... runs a test against a fresh system.
drive() {
  local test=$1
  shift
  "$bin" run --port 0 "$@" >"$log" 2>&1 &
  pid=$!
  local url=""
  for _ in $(seq 100); do
    url=$(grep -oE -m1 'http://localhost:[0-9]+' "$log" || true)
    [ -n "$url" ] && break
    kill -0 "$pid" 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 0.1
  done
  [ -n "$url" ] || { echo "browser: the system did not start:" >&2; cat "$log" >&2; exit 1; }
  node "$test" "$url" "$out" || failed=1
  stop
}
failed=0
if [ "${3-}" = film ]; then
  command -v img2webp >/dev/null || { echo "film: img2webp is missing: apt-get install webp" >&2; exit 1; }
  drive film.mjs
else
  drive run.mjs
  drive details.mjs --stock 3 --limit 2
  ISSUER_PORT=$(node -e 'require("net").createServer().listen(0, "localhost", function () { console.log(this.address().port); this.close(); })')
  export ISSUER_PORT
  drive signin.mjs --limit 5 --issuers "http://localhost:$ISSUER_PORT|shop"
  drive payment.mjs --stock 40 --limit 20
  drive push.mjs --stock 40 --limit 20
  drive admission.mjs --checks standard --stock 40 --limit 20
  drive admission.mjs --checks strict --stock 40 --limit 20
fi
exit $failed
