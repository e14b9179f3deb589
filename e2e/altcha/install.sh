#!/usr/bin/env bash
# Installs ALTCHA's library and widget for the tests here, unless the installed ones are what package-lock.json says.
set -euo pipefail
cd "$(dirname "$0")"
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "altcha: $tool is missing: apt-get install nodejs npm" >&2; exit 1; }
done
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent
