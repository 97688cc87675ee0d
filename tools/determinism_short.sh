#!/bin/sh
# The same runs twice, the second time with other addresses and other bytes in fresh memory: what they print, the hash of all
# commands included, has to be the same. The short form of determinism.sh, which compares compilers and sanitizers too.
# usage: tools/determinism_short.sh SLUICE
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for bytes in 0 165; do
  export MALLOC_PERTURB_=$bytes
  {
    "$1" check --json $(tools/example_documents.sh)
    "$1" sim examples/esg/moderate_heavy.yaml --scheduler sluice,esg,infless,fifo,kaas-round-robin --requests 300 --json
    "$1" soak --seeds 1..12 --json
  } >"$folder/$bytes.json"
done
cmp "$folder/0.json" "$folder/165.json"
