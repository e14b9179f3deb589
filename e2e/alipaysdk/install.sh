#!/usr/bin/env bash
# Installs Alipay's SDK for Node.js for the tests here, unless the installed one is what package-lock.json says, and
# python-alipay-sdk into .tools, once. Prints the path of the Python that has it.
set -euo pipefail
here=$(cd "$(dirname "$0")/../servers" && pwd)
source "$here/lib.sh"
cd "$(dirname "$0")"
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "alipaysdk: $tool is missing: apt-get install nodejs npm" >&2; exit 1; }
done
need python
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent >&2
venv=$tools/python-alipay-sdk-$(pinned alipaysdk.txt python-alipay-sdk)
once "$venv" packages "$venv" "$here/pinned/alipaysdk.txt"
echo "$venv/bin/python"
