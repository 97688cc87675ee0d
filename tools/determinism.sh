#!/bin/sh
# Builds with GCC and clang, with ASan+UBSan and TSan, runs every test in each, and compares what the programs print for the
# examples: what they read, and the hash of all commands of simulated runs and of worlds with faults.
# usage: tools/determinism.sh JOBS
set -eu
cd "$(dirname "$0")/.."
jobs="$1"
mkdir -p build/determinism
for preset in release dev tsan clang; do
  echo "== $preset"
  test -f build/$preset/build.ninja || cmake --preset $preset >/dev/null
  cmake --build --preset $preset -j "$jobs" | tail -1
  ctest --test-dir build/$preset -j "$jobs" --output-on-failure | tail -3
  sluice=build/$preset/sluice
  {
    $sluice check --json $(git ls-files 'examples/*.yaml' 'examples/*.json' 'examples/*.pbtxt')
    $sluice sim examples/esg/moderate_heavy.yaml --scheduler sluice,esg,aquatope,fifo,kaas-round-robin --requests 2000 --json
    $sluice soak --seeds 1..50 --json
  } >build/determinism/$preset.json
  cmp build/determinism/release.json build/determinism/$preset.json
done
echo "release, dev, tsan and clang agree"
