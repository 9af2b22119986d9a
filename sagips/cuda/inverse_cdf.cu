// Sampling from tabulated densities, kernels::draw_positions and its way back: a block for a table.
#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::inverse_cdf {
namespace {

constexpr unsigned usual_threads = 256, most_threads = 1024;
constexpr int64_t events_of_a_block = 4096;  // beyond, several blocks sum the same table

/// The grid in the numbers that the kernels use. `share`: entries of a table that one thread sums;
/// odd, so that the threads of a warp meet in no bank of shared memory.
struct Axis {
  double step;
  float last, float_step;
  int points, share;
  bool trapezoid;
};

/// Sum of what the threads before this one hold. shape: warps [32], in shared memory
template <class Number>
__device__ Number sum_before(Number own, Number* warps) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  Number sum = own;
  for (int by = 1; by < 32; by *= 2) {
    const Number left = __shfl_up_sync(~0U, sum, by);
    if (lane >= by) sum += left;
  }
  if (lane == 31) warps[warp] = sum;
  Number before = __shfl_up_sync(~0U, sum, 1);
  if (lane == 0) before = 0;
  __syncthreads();
  for (int w = 0; w < warp; ++w) before += warps[w];
  return before;
}

/// Fills `table` with the ascending survival function; entry k belongs to point points - 1 - k.
/// Sums are in double: the table's last entries differ by 1 / points of their size. Returns the sum
/// of masses, twice that for the trapezoid rule, as the CPU's passes do.
__device__ double survival(const Axis& axis, const float* __restrict__ densities, float* table) {
  __shared__ double warps[32], sum_of_all;
  // The trapezoid rule has no mass at the last point, entry 0.
  const int thread = static_cast<int>(threadIdx.x), skipped = axis.trapezoid ? 1 : 0;
  for (int k = skipped + thread; k < axis.points; k += static_cast<int>(blockDim.x)) {
    const int i = axis.points - 1 - k;
    table[k] = axis.trapezoid ? densities[i] + densities[i + 1] : densities[i];
  }
  __syncthreads();
  const int first = skipped + thread * axis.share, end = min(first + axis.share, axis.points);
  double sum = 0;
  for (int k = first; k < end; ++k) sum += static_cast<double>(table[k]);
  const double before = sum_before(sum, warps);
  if (first < axis.points && end == axis.points) sum_of_all = before + sum;
  __syncthreads();
  const auto total = static_cast<float>(sum_of_all);
  double running = 0;
  for (int k = first; k < end; ++k) {
    running += static_cast<double>(table[k]);
    table[k] = static_cast<float>(before + running) / total;
  }
  if (skipped == 1 && thread == 0) table[0] = 0.0F / total;
  __syncthreads();
  return sum_of_all;
}

// Comparisons are written so that nan stays nan, as on the CPU.
__global__ void __launch_bounds__(usual_threads)
    draw(Axis axis, int widest, sagips_cuda_draws shape, const float* __restrict__ densities,
         const float* __restrict__ uniform, float* __restrict__ positions,
         sagips_cuda_trace trace) {
  SAGIPS_CUDA_SHARED(memory);
  auto* const table = reinterpret_cast<float*>(memory);
  const int64_t t = blockIdx.x, sample = blockIdx.x / static_cast<uint32_t>(shape.observables),
                observable = t - sample * shape.observables;
  const double total = survival(axis, densities + t * axis.points, table);
  const bool keep = trace.cells != nullptr;
  if (keep && blockIdx.y == 0 && threadIdx.x == 0) trace.masses[t] = total;
  constexpr float smallest = 0x1p-126F;  // normal number
  const int last_cell = axis.points - 2;
  const int64_t first = blockIdx.y * events_of_a_block,
                end = min(first + events_of_a_block, shape.events);
  for (int64_t e = first + threadIdx.x; e < end; e += usual_threads) {
    const float u = uniform[t * shape.events + e];
    int lower = 0;  // the number of entries 1 .. last_cell below u
    for (int stretch = widest; stretch > 0; stretch /= 2)
      if (lower + stretch <= last_cell && table[lower + stretch] < u) lower += stretch;
    const float below = table[lower], width = table[lower + 1] - below;
    const float divisor = width < smallest ? smallest : width;
    const float free = (u - below) / divisor;
    const float share = free < 0.0F ? 0.0F : free > 1.0F ? 1.0F : free;
    positions[(sample * shape.events + e) * shape.observables + observable] =
        (static_cast<float>(lower) * -axis.float_step + axis.last) - share * axis.float_step;
    if (!keep) continue;
    trace.cells[t * shape.events + e] = last_cell - lower;
    trace.shares[t * shape.events + e] = share;
    trace.slopes[t * shape.events + e] = free == share && width >= smallest ? 1.0F / divisor : 0.0F;
  }
}

/// The draws of one table with their gradients.
struct Pulls {
  const float *slopes, *shares, *uniform, *gradient;
  int64_t stride;
  double step;

  /// dL/dS over the width of the draw's cell
  __device__ double operator[](int64_t e) const {
    return step * static_cast<double>(gradient[e * stride]) * static_cast<double>(slopes[e]);
  }
};

struct Sizes {
  double largest, through_total;
};

/// The largest pull, and the sum of pulls times their uniform numbers, in an order that is fixed.
__device__ Sizes sizes_of(const Pulls& pulls, int64_t events) {
  __shared__ double largest_of[32], sum_of[32];
  double largest = 0, sum = 0;
  for (int64_t e = threadIdx.x; e < events; e += blockDim.x) {
    const double pull = pulls[e];
    largest = fmax(largest, fabs(pull));
    sum += pull * static_cast<double>(pulls.uniform[e]);
  }
  for (int by = 16; by > 0; by /= 2) {
    largest = fmax(largest, __shfl_xor_sync(~0U, largest, by));
    sum += __shfl_xor_sync(~0U, sum, by);
  }
  if (threadIdx.x % 32 == 0) {
    largest_of[threadIdx.x / 32] = largest;
    sum_of[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  largest = sum = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    largest = fmax(largest, largest_of[w]);
    sum += sum_of[w];
  }
  return {largest, sum};
}

// Draws of one cell are added as whole numbers of 2^-room of the table's largest pull: their order
// does not matter then, and no digit of a float is lost (room is 44 for 100,000 draws). A draw also
// pulls on the total, by its uniform number. A pull that is not finite makes that sum not finite,
// and with it the whole table.
__global__ void __launch_bounds__(most_threads)
    pull_back(Axis axis, int room, sagips_cuda_draws shape, sagips_cuda_trace trace,
              const float* __restrict__ uniform, const float* __restrict__ gradient_positions,
              float* __restrict__ gradient_densities) {
  SAGIPS_CUDA_SHARED(memory);
  auto* const cells = reinterpret_cast<unsigned long long*>(memory);  // two's complement
  __shared__ unsigned long long warps[32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int64_t t = blockIdx.x, sample = blockIdx.x / static_cast<uint32_t>(shape.observables),
                observable = t - sample * shape.observables, draws = t * shape.events;
  const Pulls pulls{trace.slopes + draws,
                    trace.shares + draws,
                    uniform + draws,
                    gradient_positions + sample * shape.events * shape.observables + observable,
                    shape.observables,
                    axis.step};
  for (int i = thread; i < axis.points; i += threads) cells[i] = 0;
  const Sizes sizes = sizes_of(pulls, shape.events);  // with a barrier, behind which cells are 0
  const int exponent = sizes.largest > 0 && sizes.largest <= 1e300 ? ilogb(sizes.largest) : 0;
  const double scale = ldexp(1.0, room - exponent);
  for (int64_t e = thread; e < shape.events; e += threads) {
    const double pull = pulls[e] * scale;
    // without a sign, so that what is not finite, which has no whole number, wraps around
    const auto whole = static_cast<unsigned long long>(llrint(pull)),
               upper = static_cast<unsigned long long>(
                   llrint(pull * static_cast<double>(pulls.shares[e])));
    unsigned long long* const cell = cells + trace.cells[draws + e];
    atomicAdd(cell, upper);
    atomicAdd(cell + 1, whole - upper);
  }
  __syncthreads();
  // A mass is part of the S of its own point and of all points left of it.
  const int first = thread * axis.share, end = min(first + axis.share, axis.points);
  unsigned long long running = 0;  // wraps around as well
  for (int i = first; i < end; ++i) running += cells[i];
  running = sum_before(running, warps);
  const double unit = 1.0 / scale, factor = 1.0 / trace.masses[t];
  const auto of_mass = [&](unsigned long long sum) {
    const auto units = static_cast<double>(static_cast<long long>(sum));
    return static_cast<float>((units * unit - sizes.through_total) * factor);
  };
  // The trapezoid rule: a point has a part in the cells on both sides.
  float left = axis.trapezoid && first > 0 ? of_mass(running) : 0.0F;
  for (int i = first; i < end; ++i) {
    running += cells[i];
    const float own = axis.trapezoid && i == axis.points - 1 ? 0.0F : of_mass(running);
    cells[i] = __float_as_uint(left + own);
    if (axis.trapezoid) left = own;
  }
  __syncthreads();
  for (int i = thread; i < axis.points; i += threads)
    gradient_densities[t * axis.points + i] = __uint_as_float(static_cast<uint32_t>(cells[i]));
}

/// `entries` of a table are summed by `threads`.
Axis axis_of(const sagips_cuda_grid& grid, int64_t entries, unsigned threads) {
  return {grid.step,
          static_cast<float>(grid.last),
          static_cast<float>(grid.step),
          static_cast<int>(grid.points),
          static_cast<int>((entries + threads - 1) / threads) | 1,
          grid.trapezoid != 0};
}

bool fits(const sagips_cuda_grid& grid, const sagips_cuda_draws& shape) {
  if (grid.points < 3 || grid.points > 4096) return false;
  if (shape.samples < 0 || shape.observables < 0 || shape.events < 0) return false;
  constexpr int64_t most = int64_t{1} << 28;
  return shape.events <= most && shape.observables <= most &&
         shape.samples * (shape.observables + 1) <= most << 2;
}

}  // namespace
}  // namespace sagips::cuda::inverse_cdf

using namespace sagips::cuda;

int sagips_cuda_draw_positions(sagips_cuda_grid grid, sagips_cuda_draws shape,
                               const float* densities, const float* uniform, float* positions,
                               sagips_cuda_trace trace, void* stream) {
  using namespace inverse_cdf;
  if (!fits(grid, shape)) return invalid_value;
  const int64_t tables = shape.samples * shape.observables;
  if (tables == 0 || (shape.events == 0 && trace.cells == nullptr)) return 0;
  const Axis axis = axis_of(grid, grid.points - (grid.trapezoid != 0 ? 1 : 0), usual_threads);
  int widest = 1;
  while (2 * widest <= axis.points - 2) widest *= 2;
  const int64_t parts = (shape.events + events_of_a_block - 1) / events_of_a_block;
  if (parts > 65535) return invalid_value;
  const dim3 blocks(static_cast<unsigned>(tables), static_cast<unsigned>(parts > 0 ? parts : 1));
  return launch(draw, blocks, dim3(usual_threads), sizeof(float) * grid.points, stream, axis,
                widest, shape, densities, uniform, positions, trace);
}

int sagips_cuda_pull_back_positions(sagips_cuda_grid grid, sagips_cuda_draws shape,
                                    sagips_cuda_trace trace, const float* uniform,
                                    const float* gradient_positions, float* gradient_densities,
                                    void* stream) {
  using namespace inverse_cdf;
  if (!fits(grid, shape)) return invalid_value;
  const int64_t tables = shape.samples * shape.observables;
  if (tables == 0) return 0;
  int room = 61;
  for (int64_t events = shape.events; events > 0; events /= 2) --room;
  const unsigned threads = shape.events > events_of_a_block ? most_threads : usual_threads;
  return launch(pull_back, dim3(static_cast<unsigned>(tables)), dim3(threads),
                sizeof(unsigned long long) * grid.points, stream,
                axis_of(grid, grid.points, threads), room, shape, trace, uniform,
                gradient_positions, gradient_densities);
}
