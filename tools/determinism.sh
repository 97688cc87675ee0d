#!/bin/sh
# Builds with GCC and clang, with ASan+UBSan and TSan, runs every test in each, and compares what the programs print for the
# examples. usage: tools/determinism.sh JOBS
set -eu
cd "$(dirname "$0")/.."
jobs="$1"
mkdir -p build/determinism
for preset in release dev tsan clang; do
  echo "== $preset"
  test -f build/$preset/build.ninja || cmake --preset $preset >/dev/null
  cmake --build --preset $preset -j "$jobs" | tail -1
  ctest --test-dir build/$preset -j "$jobs" --output-on-failure | tail -3
  build/$preset/sluice check --json $(git ls-files 'examples/*.yaml' 'examples/*.json' 'examples/*.pbtxt') >build/determinism/$preset.json
  cmp build/determinism/release.json build/determinism/$preset.json
done
echo "release, dev, tsan and clang agree"
