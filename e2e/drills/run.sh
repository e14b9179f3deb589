#!/usr/bin/env bash
# The drills, after `make build`: builds the functions and toxiproxy, lets e2e/drills run, and stops every server that was started, whatever becomes of it.
#   run.sh [flags of e2e/drills]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../servers" && pwd)
# shellcheck source=../servers/lib.sh
. "$here/lib.sh"
[ "$(uname)" = Linux ] || { echo "drills: Linux only: processes are looked at in /proc" >&2; exit 1; }
need go curl python redis npm
cd "$root"
export CGO_ENABLED=0
mkdir -p "$tools/drills/functions"
go build -tags lambda.norpc -trimpath -ldflags=-s -o "$tools/drills/functions/" ./functions/...
go build -trimpath -o "$tools/drills/drills" ./e2e/drills
go build -C e2e/drills/toxiproxy -trimpath -ldflags=-s -o "$tools/toxiproxy-server" github.com/Shopify/toxiproxy/v2/cmd/server
dir=$(mktemp -d)

# Each server has its pid, which is its process group's too, in a file.
finish() {
  local status=$? file
  trap '' INT TERM
  find "$dir" -name '*.pid' | while read -r file; do kill -9 -- "-$(cat "$file")" 2>/dev/null || true; done
  if [ "$status" = 0 ]; then
    rm -rf "$dir"
  else
    echo "drills: logs and journals are in $dir" >&2
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$tools/drills/drills" -root "$root" -bin "$tools/drills/functions" -dir "$dir" "$@"
