#!/bin/sh
# Builds the fuzz targets and runs each for SECONDS, JOBS at a time. A crash is kept in build/fuzz/found and fails the run.
# usage: tools/fuzz.sh SECONDS JOBS
set -eu
cd "$(dirname "$0")/.."
seconds="$1"
jobs="$2"
test -f build/fuzz/build.ninja || cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs"
mkdir -p build/fuzz/found
targets=$(ls tests/fuzz/fuzz_*.cpp | xargs -n1 basename | sed 's/\.cpp$//')
echo "$targets" | xargs -P "$jobs" -I{} sh -c '
  target={}; corpus=${target#fuzz_}
  mkdir -p build/fuzz/corpus/$corpus
  build/fuzz/tests/fuzz/$target -max_total_time='"$seconds"' -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/found/$target- build/fuzz/corpus/$corpus tests/fuzz/corpus/$corpus >build/fuzz/$target.log 2>&1 \
    && echo "$target: clean, $(grep -o "number_of_executed_units: [0-9]*" build/fuzz/$target.log | grep -o "[0-9]*$") runs" \
    || { echo "$target: FAILED, see build/fuzz/$target.log"; tail -20 build/fuzz/$target.log; exit 1; }'
