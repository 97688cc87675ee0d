#!/bin/sh
# Builds the worker and the programs that measure and check GPUs, on a machine that has CUDA, PyTorch, CMake and ninja, makes the
# networks they use, and runs them.
# usage: tests/gpu/run.sh [BUILD-FOLDER [SECONDS]]
set -eu
cd "$(dirname "$0")/../.."
build="${1:-build/gpu-tests}"
seconds="${2:-2}"
mkdir -p "$build"
prefix="$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_WORKER_ONLY=ON -DSLUICE_GPU_TESTS=ON "-DCMAKE_PREFIX_PATH=$prefix" >"$build.log" ||
  { cat "$build.log"; exit 1; }
cmake --build "$build" || exit 1
test -f "$build/models/doubles.answer" || python3 tests/gpu/make_models.py "$build/models"
export CUDA_DEVICE_MAX_CONNECTIONS=32
"$build/check_slices"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck initcheck; do compute-sanitizer --tool $tool --error-exitcode 9 "$build/check_slices" short; done
fi
"$build/check_networks" "$build/sluice-worker" "$build/models"
"$build/bench_loads" "$build/sluice-worker" "$build/models"
"$build/bench_slices" "$build/sluice-worker" "$build/models" "$seconds"
