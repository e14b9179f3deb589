#!/usr/bin/env bash
# AWS SAM CLI (PyPI) at the version that the checks are made with: installs it into .tools/ once, then runs it with the arguments given.
#   sam.sh validate --lint        as `sam validate --lint`
#   sam.sh --python               prints the path of the Python that it runs in
#   sam.sh lint FILE…             cfn-lint, which comes with it, on plain CloudFormation
# Needs Python 3.10 or newer with venv. A deploy to AWS may as well use any other `sam` 1.139 or newer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
VERSION=$(pinned sam.txt aws-sam-cli)
venv=$(cd "$here/../.." && pwd)/.tools/sam-$VERSION

fill() {
  python3 -c 'import venv, ensurepip' 2>/dev/null || {
    echo "sam.sh: the SAM CLI needs Python with venv: apt-get install python3-venv" >&2
    return 1
  }
  echo "installing the SAM CLI $VERSION into .tools, once" >&2
  packages "$venv" "$here/pinned/sam.txt"
}

once "$venv" fill
if [ "${1-}" = --python ]; then
  echo "$venv/bin/python"
  exit
fi
export SAM_CLI_TELEMETRY=0 SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS=1 # for loops in templates
if [ "${1-}" = lint ]; then
  shift
  exec "$venv/bin/cfn-lint" -i W1101 -- "$@" # anchors, which sam deploy resolves
fi
exec "$venv/bin/sam" "$@"
