#!/bin/sh
# Installs the Debian packages of the given groups (packages.txt) that are missing, and says which. Needs no network
# if nothing is missing.   usage: tools/setup.sh build [test] [check]
set -eu
cd "$(dirname "$0")/.."

command -v dpkg-query >/dev/null 2>&1 || {
  echo "error: this is not Debian (no dpkg-query). Install by hand what packages.txt lists, then run: make build SETUP=skip" >&2
  exit 1
}

missing=""
for group in "$@"; do
  for package in $(awk -v group="$group" '$1 == group { print $2 }' packages.txt); do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then root=""
elif command -v sudo >/dev/null 2>&1; then root="sudo"
else
  echo "error: missing packages:$missing. Run as root or install sudo, or: apt-get install$missing" >&2
  exit 1
fi
echo "Installing Debian packages:$missing"
# `apt-get update` may fail where one of several sources is down; the install then decides.
$root apt-get update -qq || echo "warning: apt-get update failed, trying with the package lists there are" >&2
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
  echo "error: could not install:$missing. Is there a network? Check: apt-get install$missing" >&2
  exit 1
}
