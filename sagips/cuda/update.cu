// Update rules over flat arrays. Gradients are looked at first: no weight moves if one is not finite.
#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::update {
namespace {

constexpr unsigned block_threads = 256;

// The step is counted here, where nobody reads it, and taken back by `move` if the weights stay.
__global__ void look(const float* __restrict__ gradients, int64_t count,
                     sagips_cuda_update* update) {
  const int64_t i = int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i == 0) ++update->steps;
  if (i < count && !(fabsf(gradients[i]) <= 0x1.fffffep127F)) *update->not_finite = 1;
}

/// Factors of a rule. `add` is 1 - `keep`, rounded by itself, since keep is close to 1.
struct Memory {
  double keep_exactly;
  float keep, add;
};

Memory memory_of(double keep) {
  return {keep, static_cast<float>(keep), static_cast<float>(1 - keep)};
}

/// What Adam divides by because its running means begin at 0.
struct Corrections {
  float mean, root_of_square;
};

__device__ Corrections corrections_at(double step, double mean, double square) {
  __shared__ Corrections shared;
  if (threadIdx.x == 0)
    shared = {static_cast<float>(1 - pow(mean, step)),
              static_cast<float>(sqrt(1 - pow(square, step)))};
  __syncthreads();
  return shared;
}

/// True when the weights shall stay, in all blocks alike.
__device__ bool stays(sagips_cuda_update* update) {
  if (*update->not_finite == 0) return false;
  if (blockIdx.x == 0 && threadIdx.x == 0) --update->steps;
  return true;
}

// source: Kingma and Ba, ICLR 2015, algorithm 1
__global__ void move_adam(float* __restrict__ weights, const float* __restrict__ gradients,
                          float* __restrict__ mean, float* __restrict__ square, int64_t count,
                          Memory of_mean, Memory of_square, float epsilon,
                          sagips_cuda_update* update) {
  if (stays(update)) return;
  const Corrections corrections =
      corrections_at(update->steps, of_mean.keep_exactly, of_square.keep_exactly);
  const int64_t i = int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i >= count) return;
  const float gradient = gradients[i];
  const float m = mean[i] = of_mean.keep * mean[i] + of_mean.add * gradient;
  const float v = square[i] = of_square.keep * square[i] + of_square.add * gradient * gradient;
  const float scale = sqrtf(v) / corrections.root_of_square + epsilon;
  weights[i] -= update->rate / corrections.mean * (m / scale);
}

__global__ void move_rmsprop(float* __restrict__ weights, const float* __restrict__ gradients,
                             float* __restrict__ square, int64_t count, Memory of_square,
                             float epsilon, sagips_cuda_update* update) {
  if (stays(update)) return;
  const int64_t i = int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i >= count) return;
  const float gradient = gradients[i];
  const float v = square[i] = of_square.keep * square[i] + of_square.add * gradient * gradient;
  weights[i] -= update->rate * (gradient / (sqrtf(v) + epsilon));
}

/// Puts both kernels of a rule on the stream.
template <class Kernel, class... Arguments>
int move(Kernel kernel, const float* gradients, int64_t count, sagips_cuda_update* update,
         void* stream, Arguments... arguments) {
  if (count < 0 || count > int64_t{1} << 38) return invalid_value;
  if (count == 0) return 0;
  const dim3 blocks(static_cast<unsigned>((count + block_threads - 1) / block_threads));
  const int error = launch(look, blocks, dim3(block_threads), 0, stream, gradients, count, update);
  if (error != 0) return error;
  return launch(kernel, blocks, dim3(block_threads), 0, stream, arguments..., update);
}

}  // namespace
}  // namespace sagips::cuda::update

using namespace sagips::cuda;

int sagips_cuda_adam(float* weights, const float* gradients, float* mean, float* square,
                     int64_t count, double beta1, double beta2, double epsilon,
                     sagips_cuda_update* update, void* stream) {
  return update::move(update::move_adam, gradients, count, update, stream, weights, gradients, mean,
                      square, count, update::memory_of(beta1), update::memory_of(beta2),
                      static_cast<float>(epsilon));
}

int sagips_cuda_rmsprop(float* weights, const float* gradients, float* square, int64_t count,
                        double decay, double epsilon, sagips_cuda_update* update, void* stream) {
  return update::move(update::move_rmsprop, gradients, count, update, stream, weights, gradients,
                      square, count, update::memory_of(decay), static_cast<float>(epsilon));
}
