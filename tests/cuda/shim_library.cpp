// The whole interface on the CPU, as a library that tools/gpu_check.py takes in place of the GPU's:
//   g++ -std=c++20 -O2 -shared -fPIC -I. -o libsagips_cuda_shim.so tests/cuda/shim_library.cpp
#include "tests/cuda/shim.hpp"

#include "sagips/cuda/conv3d.cu"
#include "sagips/cuda/dense.cu"
#include "sagips/cuda/inverse_cdf.cu"
#include "sagips/cuda/library.cu"
#include "sagips/cuda/pair_passes.cu"
#include "sagips/cuda/philox.cu"
#include "sagips/cuda/update.cu"
