#pragma once
#define SAGIPS_CUDA_SHIM
// What device.cuh needs to run a .cu on the CPU: every thread of a block is a fibre, a barrier or a
// warp's instruction is a place where fibres meet, and blocks run one after another. That shows
// wrong indices, some missing barriers and all rounding, but no races between blocks. The thread
// sanitizer cannot follow fibres and has nothing to find here.
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#define __global__ static
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__

struct uint2 {
  uint32_t x, y;
};
struct float2 {
  float x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  // NOLINTNEXTLINE(google-explicit-constructor): as CUDA's
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

/// Threads that wait for each other.
struct Group {
  unsigned arrived = 0, turn = 0;
  void* posted[32] = {};
};
struct Fibre {
  ucontext_t first;
  void* at[5];  ///< where it goes on
  std::vector<char> stack;
  bool started = false, done = false;
};
inline std::vector<Fibre> fibres;
inline std::vector<Group> warps;
inline Group block;
inline unsigned current, threads, alive;
inline long idle;  ///< switches since anybody got further
inline std::vector<uint4> dynamic_memory;
inline size_t shared_limit = 232448;  ///< of an H100; tests choose others
inline int multiprocessors = 3;
inline std::function<void()> body;
inline ucontext_t outside;

inline __attribute__((noinline)) void leap(void** to) { __builtin_longjmp(to, 1); }
/// Not swapcontext, which asks the system for signal masks each time.
inline __attribute__((noinline)) void go_to(unsigned next) {
  if (next == current) return;
  Fibre& from = fibres[current];
  if (__builtin_setjmp(from.at) == 0) {
    current = next;
    threadIdx = dim3(next % blockDim.x, next / blockDim.x);
    Fibre& to = fibres[next];
    if (to.started) leap(to.at);
    to.started = true;
    setcontext(&to.first);
  }
}
inline unsigned next_of(unsigned first, unsigned count) {
  unsigned next = current;
  do next = next + 1 == first + count ? first : next + 1;
  while (fibres[next].done && next != current);
  return next;
}
inline void wait_a_turn(unsigned first, unsigned count) {
  if (++idle > 1 << 22) {
    std::fprintf(stderr, "the block waits for ever: thread %u\n", current);
    std::abort();
  }
  go_to(next_of(first, count));
}
inline void run_body() {
  body();
  fibres[current].done = true;
  --alive, idle = 0;
  if (alive == 0) setcontext(&outside);
  go_to(next_of(0, threads));
}
/// The last thread of a warp to come does `act` for all.
template <class Act>
void warp_meets(void* mine, const Act& act) {
  const unsigned first = current / 32 * 32, count = std::min(32u, threads - first);
  Group& warp = warps[first / 32];
  warp.posted[current - first] = mine;
  const unsigned turn = warp.turn;
  if (++warp.arrived == count) {
    warp.arrived = 0, ++warp.turn, idle = 0;
    act(warp.posted, count);
  }
  while (warp.turn == turn) wait_a_turn(first, count);
}
inline void block_meets() {
  const unsigned turn = block.turn;
  ++block.arrived;
  while (block.turn == turn) {
    if (block.arrived == alive)
      block.arrived = 0, ++block.turn, idle = 0;
    else
      wait_a_turn(0, threads);
  }
}
inline void run_block(size_t shared_bytes) {
  constexpr size_t stack_bytes = 1 << 16;
  fibres.resize(std::max<size_t>(fibres.size(), threads));
  warps.assign((threads + 31) / 32, {});
  block = {}, alive = threads, idle = 0;
  dynamic_memory.assign(shared_bytes / 16 + 1, make_uint4(~0u, ~0u, ~0u, ~0u));  // not a number
  for (unsigned i = 0; i < threads; ++i) {
    Fibre& fibre = fibres[i];
    fibre.started = fibre.done = false;
    fibre.stack.resize(stack_bytes);
    getcontext(&fibre.first);
    fibre.first.uc_stack.ss_sp = fibre.stack.data();
    fibre.first.uc_stack.ss_size = stack_bytes;
    makecontext(&fibre.first, run_body, 0);
  }
  current = 0, threadIdx = dim3(0, 0, 0);
  fibres[0].started = true;
  swapcontext(&outside, &fibres[0].first);
}
/// Runs work now, or when the graph that is being made does. Null: there are no graphs.
inline void (*put_into_graph)(std::function<void()> work) = nullptr;
inline void put(const std::function<void()>& work) {
  put_into_graph != nullptr ? put_into_graph(work) : work();
}
/// Of several threads one after another.
inline std::mutex one_at_a_time;
inline void launch_now(dim3 grid, dim3 size, size_t shared_bytes, std::function<void()> kernel) {
  const std::lock_guard alone(one_at_a_time);
  gridDim = grid, blockDim = size, threads = size.x * size.y, body = std::move(kernel);
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) blockIdx = dim3(x, y, 0), run_block(shared_bytes);
}
inline void launch(dim3 grid, dim3 size, size_t shared_bytes, const std::function<void()>& kernel) {
  put([=] { launch_now(grid, size, shared_bytes, kernel); });
}
template <class T>
T from_lane(T value, unsigned source) {
  struct Mine {
    T value;
    unsigned source;
    T result;
  } mine{value, source, value};
  warp_meets(&mine, [](void* const* lanes, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      auto& lane = *static_cast<Mine*>(lanes[i]);
      if (lane.source < count) lane.result = static_cast<Mine*>(lanes[lane.source])->value;
    }
  });
  return mine.result;
}
inline unsigned lane() { return current % 32; }

/// d += a b^T, of tensor cores: which lane holds what is PTX's ISA, mma.m16n8k8 and mma.m16n8k16.
template <int depth, class Part>
void multiply(float* d, const uint32_t* a, const uint32_t* b, const Part& part) {
  struct Mine {
    float* d;
    const uint32_t *a, *b;
  } mine{d, a, b};
  warp_meets(&mine, [&](void* const* lanes, unsigned) {
    constexpr int half = depth / 2, parts = depth / 8;
    float left[16][depth], right[8][depth];
    for (int i = 0; i < 32; ++i)
      for (int k = 0; k < parts; ++k) {
        const auto& lane = *static_cast<Mine*>(lanes[i]);
        for (int j = 0; j < 4; ++j)
          left[i / 4 + 8 * (j % 2)][i % 4 * parts + k + half * (j / 2)] = part(lane.a[j], k);
        for (int j = 0; j < 2; ++j) right[i / 4][i % 4 * parts + k + half * j] = part(lane.b[j], k);
      }
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 4; ++j) {
        float sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += left[i / 4 + 8 * (j / 2)][k] * right[i % 4 * 2 + j % 2][k];
        static_cast<Mine*>(lanes[i])->d[j] += sum;
      }
  });
}

}  // namespace shim

// NOLINTBEGIN(bugprone-reserved-identifier,google-global-names-in-headers): CUDA's names
inline uint32_t __float_as_uint(float value) { return std::bit_cast<uint32_t>(value); }
inline float __uint_as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint32_t(uint64_t{a} * b >> 32); }
inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __ffs(uint32_t bits) { return __builtin_ffs(int(bits)); }
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, int by) {
  return uint32_t((uint64_t{high} << 32 | low) << by >> 32);
}
using std::max;
using std::min;

inline void __syncthreads() { shim::block_meets(); }
inline void __syncwarp(unsigned = ~0u) {
  shim::warp_meets(nullptr, [](void* const*, unsigned) {});
}
template <class T>
T __shfl_sync(unsigned, T value, int source, int width = 32) {
  return shim::from_lane(value, shim::lane() / width * width + unsigned(source) % width);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask, int = 32) {
  return shim::from_lane(value, shim::lane() ^ unsigned(mask));
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by, int width = 32) {
  const unsigned at = shim::lane();
  return shim::from_lane(value, at % width < by ? at : at - by);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by, int width = 32) {
  const unsigned at = shim::lane();
  return shim::from_lane(value, at % width + by < unsigned(width) ? at + by : at);
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  struct Mine {
    bool yes;
    unsigned result;
  } mine{predicate != 0, 0};
  shim::warp_meets(&mine, [](void* const* lanes, unsigned count) {
    unsigned all = 0;
    for (unsigned i = 0; i < count; ++i) all |= unsigned(static_cast<Mine*>(lanes[i])->yes) << i;
    for (unsigned i = 0; i < count; ++i) static_cast<Mine*>(lanes[i])->result = all;
  });
  return mine.result;
}
inline bool __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
// NOLINTEND(bugprone-reserved-identifier,google-global-names-in-headers)
template <class T>
T atomicAdd(T* at, T value) {
  return std::exchange(*at, *at + value);
}
template <class T>
T atomicMax(T* at, T value) {
  return std::exchange(*at, std::max(*at, value));
}
template <class T>
T atomicOr(T* at, T value) {
  return std::exchange(*at, *at | value);
}
template <class T>
T atomicExch(T* at, T value) {
  return std::exchange(*at, value);
}
