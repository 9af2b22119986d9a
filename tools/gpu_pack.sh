#!/usr/bin/env bash
# Puts what tools/gpu_check.sh needs on a machine with a GPU into .gpu/: the program, libsagips_cuda.so, and the system's
# libraries but glibc's. LibTorch is that machine's own, of the same version.
#
# usage: tools/gpu_pack.sh [FOLDER]        default: .gpu; needs nvcc
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
to="${1:-$root/.gpu}"
build="$root/build/gpu"

cmake -S "$root" -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DSAGIPS_BUILD_TESTS=OFF -DSAGIPS_BUILD_BENCHMARKS=OFF -DSAGIPS_PYTHON=OFF -DSAGIPS_MPI=OFF -DSAGIPS_CUDA_LIBRARY=ON
cmake --build "$build" --target sagips sagips_cuda
rm -rf "$to"
mkdir -p "$to/lib"
cp "$build/cli/sagips" "$build/libsagips_cuda.so" "$to"
strip "$to/sagips" "$to/libsagips_cuda.so"
ldd "$build/cli/sagips" | awk '$3 ~ /^\// {print $3}' |
  grep -vE '/(torch|nvidia)/|/lib(c|m|dl|rt|pthread|util|resolv)\.so' | xargs -I{} cp -L {} "$to/lib"
echo "gpu_pack: $(du -sh "$to" | cut -f1) in $to"
