#!/usr/bin/env bash
# Installs Alipay's SDK for Node.js for the tests here, unless the installed one is what package-lock.json says.
set -euo pipefail
cd "$(dirname "$0")"
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "alipaysdk: $tool is missing: apt-get install nodejs npm" >&2; exit 1; }
done
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent >&2
