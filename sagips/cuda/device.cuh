#pragma once
// What differs between a GPU and the CPU that runs the same kernels in tests. These define
// SAGIPS_CUDA_SHIM and have included tests/cuda/shim.hpp.
#include <cstddef>
#include <cstdint>

#ifndef SAGIPS_CUDA_SHIM
#include <cuda_runtime.h>
#endif

namespace sagips::cuda {

#ifdef SAGIPS_CUDA_SHIM

/// The block's dynamic shared memory, 16-byte aligned.
#define SAGIPS_CUDA_SHARED(name) \
  auto* const name = reinterpret_cast<unsigned char*>(shim::dynamic_memory.data())
#define SAGIPS_CUDA_UNROLL(count)
inline void keep_inside() {}

template <class... P, class... A>
int launch(void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared_bytes, void*,
           A... arguments) {
  shim::launch(blocks, threads, shared_bytes, [=] { kernel(static_cast<P>(arguments)...); });
  return 0;
}
inline int clear(void* memory, size_t bytes, void*) {
  shim::put([=] { std::memset(memory, 0, bytes); });
  return 0;
}
template <class Kernel>
int allow_shared(Kernel*, size_t) {
  return 0;
}
inline size_t shared_limit() { return shim::shared_limit; }
inline int multiprocessors() { return shim::multiprocessors; }
template <class Kernel>
int blocks_together(Kernel*, int, size_t) {
  return 2;
}
inline const char* error_text(int error) { return error == 0 ? "no error" : "an error"; }
constexpr int invalid_value = 1;

inline float power_of_2(float x) { return std::exp2(x); }

inline uint32_t to_tf32(float x) { return (__float_as_uint(x) + 0x1000u) & 0xffffe000u; }
inline uint32_t to_bfloat16(float low, float high) {
  const auto round = [](float x) {
    const uint32_t bits = __float_as_uint(x);
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  };
  return round(low) | round(high) << 16;
}
inline void multiply_tf32(float* d, const uint32_t* a, const uint32_t* b) {
  shim::multiply<8>(d, a, b,
                    [](uint32_t bits, int) { return __uint_as_float(bits & 0xffffe000u); });
}
inline void multiply_bfloat16(float* d, const uint32_t* a, const uint32_t* b) {
  shim::multiply<16>(d, a, b, [](uint32_t bits, int k) {
    return __uint_as_float(k == 0 ? bits << 16 : bits & 0xffff0000u);
  });
}
template <bool transposed>
void load_matrices(uint32_t* to, const void* row) {
  struct Mine {
    uint32_t* to;
    const uint16_t* row;
  } mine{to, static_cast<const uint16_t*>(row)};
  shim::warp_meets(&mine, [](void* const* lanes, unsigned) {
    const auto element = [&](int matrix, int r, int c) -> uint32_t {
      return static_cast<Mine*>(lanes[matrix * 8 + (transposed ? c : r)])->row[transposed ? r : c];
    };
    for (int i = 0; i < 32; ++i)
      for (int m = 0; m < 4; ++m)
        static_cast<Mine*>(lanes[i])->to[m] =
            element(m, i / 4, i % 4 * 2) | element(m, i / 4, i % 4 * 2 + 1) << 16;
  });
}
inline void copy_16(void* shared, const void* global) { std::memcpy(shared, global, 16); }
inline void close_copies() {}
template <int still_open>
void wait_for_copies() {}

#else

#define SAGIPS_CUDA_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
/// Stands before a loop.
#define SAGIPS_CUDA_UNROLL(count) SAGIPS_CUDA_PRAGMA(unroll count)
#define SAGIPS_CUDA_PRAGMA(text) _Pragma(#text)
/// Keeps the compiler from loading ahead of this place what would take registers all along.
__device__ __forceinline__ void keep_inside() { asm volatile("" ::: "memory"); }

template <class... P, class... A>
int launch(void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared_bytes, void* stream,
           A... arguments) {
  cudaLaunchConfig_t how{};
  how.gridDim = blocks, how.blockDim = threads, how.dynamicSmemBytes = shared_bytes;
  how.stream = static_cast<cudaStream_t>(stream);
  return cudaLaunchKernelEx(&how, kernel, static_cast<P>(arguments)...);
}
inline int clear(void* memory, size_t bytes, void* stream) {
  return cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream));
}
template <class Kernel>
int allow_shared(Kernel* kernel, size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
}
inline int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}
/// Bytes of shared memory that a block may have.
inline size_t shared_limit() {
  static const int bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes;
}
inline int multiprocessors() {
  static const int count = device_attribute(cudaDevAttrMultiProcessorCount);
  return count;
}
/// Blocks that a multiprocessor runs at the same time.
template <class Kernel>
int blocks_together(Kernel* kernel, int threads, size_t shared_bytes) {
  int count = 0;
  const auto error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads, shared_bytes);
  return error == cudaSuccess ? count : 0;
}
inline const char* error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }
constexpr int invalid_value = cudaErrorInvalidValue;

/// 2^x within some 2^-22 of it; 0 below 2^-126.
__device__ __forceinline__ float power_of_2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// Rounded as tensor cores read it.
__device__ __forceinline__ uint32_t to_tf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
__device__ __forceinline__ uint32_t to_bfloat16(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
/// d [16, 8] += a [16, 8] b [8, 8]; lanes hold what PTX's ISA says of mma.m16n8k8.
__device__ __forceinline__ void multiply_tf32(float* d, const uint32_t* a, const uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// d [16, 8] += a [16, 16] b [16, 8]: mma.m16n8k16.
__device__ __forceinline__ void multiply_bfloat16(float* d, const uint32_t* a, const uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
/// Four 8 x 8 matrices of 16-bit numbers: lane i gives row i % 8 of matrix i / 8 in shared memory.
template <bool transposed>
__device__ __forceinline__ void load_matrices(uint32_t* to, const void* row) {
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
}
/// Copies that go on while the thread does; close_copies ends a batch.
__device__ __forceinline__ void copy_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)),
               "l"(global)
               : "memory");
}
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int still_open>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(still_open) : "memory");
}

#endif

}  // namespace sagips::cuda
