#!/bin/sh
# Builds with GCC and clang, with ASan+UBSan and TSan, runs every test in each, and compares what the programs print for the
# examples: what they read, and the hash of all commands of simulated runs and of worlds with faults. Benchmarks are only
# built, so that they go on compiling.
# usage: tools/determinism.sh JOBS
set -eu
cd "$(dirname "$0")/.."
jobs="$1"
results=build/determinism
mkdir -p $results
documents=$(tools/example_documents.sh)

# Runs a command that says much: its last lines, all of it where it fails.
quietly() {
  "$@" >$results/log 2>&1 || { cat $results/log; exit 1; }
  tail -3 $results/log
}

for preset in ${PRESETS:-release dev tsan clang}; do
  echo "== $preset"
  test -f build/$preset/build.ninja || cmake --preset $preset >/dev/null
  quietly cmake --build --preset $preset -j "$jobs"
  # What looks at the sources alone is the same in all of them; what decides has no threads (tools/tidy.py sees to that), and
  # takes half an hour under TSan.
  case $preset in
    release) skipped=none ;;
    tsan) skipped='^(tidy|(domain|spec|profile|plan|policy|core|record|workload|sim|reproduce)_test$)' ;;
    *) skipped='^tidy' ;;
  esac
  quietly ctest --test-dir build/$preset -j "$jobs" --output-on-failure -E "$skipped"
  sluice=build/$preset/sluice
  {
    $sluice check --json $documents
    $sluice sim examples/esg/moderate_heavy.yaml --scheduler sluice,esg,aquatope,fifo,kaas-round-robin --requests 2000 --json
    $sluice soak --seeds 1..50 --json
  } >$results/$preset.json
  cmp $results/release.json $results/$preset.json
done
quietly cmake --build --preset release -j "$jobs" --target benchmarks
echo "release, dev, tsan and clang agree"
