#!/usr/bin/env bash
# Opens the tool's exports in LibreOffice and pandas, saves them there, and has the tool's imports read them.
# Excel and WPS do not run here: ADR 55 says what is known of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
not_run() {
  echo "sheets: NOT RUN: $1" >&2
  exit 0
}
command -v soffice >/dev/null || not_run "soffice is missing: apt-get install libreoffice-calc"
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS-} $(cat infra/goflags)"
venv=.tools/sheets-pandas-2.3.3-openpyxl-3.1.5
"$venv/bin/python" -c 'import pandas, openpyxl' 2>/dev/null ||
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q pandas==2.3.3 openpyxl==3.1.5; } ||
  { rm -rf "$venv"; not_run "pandas cannot be installed"; }
SHEETS_PYTHON=$PWD/$venv/bin/python go test -tags real -count=1 ./cmd/seckill -run TestSheets -v
