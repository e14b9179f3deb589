#!/usr/bin/env bash
# Starts the built system on a free port and drives its storefront: run.sh BIN OUT [film|day]. Once per test, three at a time;
# stops it by pid.
# npm brings the issuer of signin.mjs and staff.mjs, and a Node that it runs on.
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
# A browser drops its requests whenever an address of the machine comes or goes, as when a Lambda container starts beside it; the
# page then asks again, and checks that count requests fail. So the rest gets a network of its own, the loopback, where it may.
if [ -z "${OWN_NETWORK-}" ]; then
  for own in "unshare --net" "unshare --map-root-user --net"; do
    if $own ip link set lo up 2>/dev/null; then
      # shellcheck disable=SC2016
      OWN_NETWORK=yes exec $own sh -c 'ip link set lo up && exec "$0" "$@"' "$PWD/$(basename "$0")" "$bin" "$out" ${3-}
    fi
  done
  echo "browser: no network of its own: a check that counts requests may fail when the machine's network changes" >&2
fi
node --test
logs=$(mktemp -d)
export XDG_CONFIG_HOME=$logs/config # the demo key of reports
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$logs"' EXIT
free_port() { node -e 'require("net").createServer().listen(0, "localhost", function () { console.log(this.address().port); this.close(); })'; }
# drive TEST FLAGS... runs a test against a fresh system, beside two others; its lines come when it ends.
count=0
drive() {
  while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n || true; done
  count=$((count + 1))
  one "$logs/$count" "$@" &
}
one() {
  local log=$1 test=$2 pid="" url="" began=$SECONDS
  shift 2
  trap '[ -z "$pid" ] || kill $pid 2>/dev/null || true' EXIT
  trap 'exit 1' TERM
  "$bin" run --port 0 "$@" >"$log.run" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    url=$(grep -oE -m1 'http://localhost:[0-9]+' "$log.run" || true)
    [ -n "$url" ] && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
  done
  if [ -z "$url" ]; then
    { echo "browser: the system did not start:"; cat "$log.run"; } >&2
  else
    SECKILL=$bin node "$test" "$url" "$out" >"$log.out" 2>&1 & # in the background, so that a TERM ends this at once
    pid="$pid $!"
    wait $! && touch "$log.ok" || true
    printf '%s %s: %s s\n%s\n' "$test" "$*" $((SECONDS - began)) "$(cat "$log.out")"
  fi
  kill $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  pid=""
}
if [ "${3-}" = film ]; then
  command -v img2webp >/dev/null || { echo "film: img2webp is missing: apt-get install webp" >&2; exit 1; }
  drive film.mjs
elif [ "${3-}" = day ]; then
  drive day.mjs --refund-alone-yuan 100
else
  drive admin.mjs --refund-alone-yuan 100 # the longest comes first
  [ -n "${QUICK-}" ] || drive activities.mjs # .ci/run leaves it to make nightly
  [ -n "${QUICK-}" ] || drive many.mjs --past-orders 10000
  drive run.mjs
  drive details.mjs --stock 3 --limit 2
  drive looks.mjs --stock 1 --limit 1
  port=$(free_port)
  ISSUER_PORT=$port drive signin.mjs --limit 5 --issuers "http://localhost:$port|shop"
  port=$(free_port)
  ISSUER_PORT=$port STAFF_CLIENT_SECRET='only a test: +%' drive staff.mjs --staff-issuer "http://localhost:$port|office" \
    --staff-claims 'seckill_groups|seckill-|sub|openid'
  if [ -z "${QUICK-}" ]; then # .ci/run plays it on a deployed stack
    port=$(free_port)
    ISSUER_PORT=$port STAFF_CLIENT_SECRET='only a test: +%' drive story.mjs --demo none --refund-alone-yuan 100 \
      --staff-issuer "http://localhost:$port|office" --staff-claims 'seckill_groups|seckill-|sub|openid'
  fi
  drive payment.mjs --stock 40 --limit 20
  drive after.mjs --stock 40 --limit 20
  drive push.mjs --stock 40 --limit 20
  drive admission.mjs --checks standard --stock 40 --limit 20
  drive admission.mjs --checks strict --stock 40 --limit 20
  drive sums.mjs --items sums.csv
  drive variants.mjs --items variants.json
  drive live.mjs --stock 40 --limit 20
fi
wait || true
[ "$(find "$logs" -name '*.ok' | wc -l)" -eq "$count" ]
