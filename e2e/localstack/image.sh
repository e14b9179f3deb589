#!/usr/bin/env bash
# Makes the container image that functions on provided.al2023 run in, where no registry has it: a busybox and the directories that Lambda has.
# Bootstraps must be static (CGO_ENABLED=0).
#   image.sh TAG [NAME=VALUE…]   TAG, with these variables in each container's environment; kept when it is there as wanted
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../servers/lib.sh
. "$here/../servers/lib.sh"
tag=$1
shift
environment="PATH=/bin LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime $*"
[ "$(docker image inspect -f '{{join .Config.Env " "}}' "$tag" 2>/dev/null)" != "${environment% }" ] || exit 0
busybox=$(static_busybox) || need busybox
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
mkdir -p "$files"/{bin,etc/ssl/certs,opt,root,tmp,var/task,var/runtime,var/rapid}
chmod 1777 "$files/tmp"
cp "$busybox" "$files/bin/busybox"
# The Dockerfile that sam puts on top runs mv and chmod; the other commands are for people who look around.
for c in sh mv chmod mkdir cp rm ls cat ps env wget; do ln -s busybox "$files/bin/$c"; done
echo 'root:x:0:0:root:/root:/bin/sh' >"$files/etc/passwd"
echo 'hosts: files dns' >"$files/etc/nsswitch.conf"
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$files/etc/ssl/certs/"
tar -C "$files" -c . | docker import -c "ENV ${environment% }" -c 'WORKDIR /var/task' - "$tag" >/dev/null
