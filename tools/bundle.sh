#!/bin/sh
# Packs sluice with the shared libraries it needs into one folder that runs on another Linux (glibc 2.36 or newer), with
# the source of the worker, which is built there: it has to fit that machine's libtorch and CUDA.
#   bundle.sh RELEASE_FOLDER OUTPUT_FOLDER
set -eu
cd "$(dirname "$0")/.."
release=$1
out=$2
rm -rf "$out"
mkdir -p "$out/lib" "$out/worker/src" "$out/examples"
cp "$release/sluice" "$out/"
# Everything but the C library and the loader, which belong to the machine.
ldd "$release/sluice" | awk '$2 == "=>" && $1 !~ /^(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so/ {print $3}' |
  while read -r library; do cp -L "$library" "$out/lib/"; done
strip "$out/sluice"
# A machine that has them all itself would not show that they are not found.
for library in "$out"/lib/*; do
  ldd "$out/sluice" | grep -q "$out/lib/$(basename "$library") " || { echo "error: $out/sluice does not take $(basename "$library") from $out/lib" >&2; exit 1; }
done
for folder in base domain data engine wire worker; do cp -r "src/$folder" "$out/worker/src/"; done
mkdir -p "$out/worker/tools" "$out/worker/apps"
cp -r tools/cmake "$out/worker/tools/"
cp apps/CMakeLists.txt apps/sluice_worker.cpp "$out/worker/apps/"
cp CMakeLists.txt "$out/worker/"
cp -r examples/. "$out/examples/"
cp LICENSE README.md "$out/"
cat > "$out/build_worker.sh" <<'WORKER'
#!/bin/sh
# Builds sluice-worker for this machine, beside sluice. Needs a C++20 compiler, CMake and ninja or make; takes libtorch
# where it finds it: Debian's, or PyTorch's.
set -eu
cd "$(dirname "$0")"
prefix=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)' 2>/dev/null || true)
generator=$(command -v ninja >/dev/null && echo "-GNinja" || true)
cmake -S worker -B worker/build $generator -DSLUICE_WORKER_ONLY=ON -DCMAKE_BUILD_TYPE=Release ${prefix:+-DCMAKE_PREFIX_PATH="$prefix"} >/dev/null
cmake --build worker/build -j
cp worker/build/sluice-worker .
if [ -f worker/build/sluice-torch.so ]; then cp worker/build/sluice-torch.so .; fi
echo "ok: $(./sluice-worker --version), engines: $(./sluice-worker --engines | tr '\n' ' ')"
WORKER
chmod +x "$out/build_worker.sh"
size=$(du -sm "$out" | cut -f1)
echo "ok: $out, $size MB: copy it, run ./build_worker.sh there, then ./sluice up"
[ "$size" -le 60 ] || { echo "error: the bundle has $size MB, at most 60 are promised" >&2; exit 1; }
