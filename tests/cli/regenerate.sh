#!/bin/sh
# Writes the expected output of `sluice check` for every document in tests/cli/wrong and of `sluice sim` for every
# experiment in tests/cli/wrong_sim. Review the diff before committing.
# usage: tests/cli/regenerate.sh [build folder]
set -eu
cd "$(dirname "$0")/../.."
sluice="${1:-build/release}/sluice"
for document in tests/cli/wrong/*.yaml tests/cli/wrong/*.json tests/cli/wrong/*.pbtxt; do
  "$sluice" check "$document" >"${document%.*}.expected" && { echo "$document is not wrong" >&2; exit 1; }
done
for experiment in tests/cli/wrong_sim/*.yaml; do
  "$sluice" sim "$experiment" >"${experiment%.*}.expected" 2>&1 && { echo "$experiment is not wrong" >&2; exit 1; }
done
exit 0
