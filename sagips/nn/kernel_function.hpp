#pragma once
#include <cstdint>
#include <functional>

#include <torch/types.h>

namespace sagips::nn {

// What LibTorch functions around kernels of our own have in common.

/// Whether kernels can work on these numbers: float32 in this machine's memory, any at all.
bool suits_kernels(const torch::Tensor& numbers);
/// Whether nobody else can see these numbers, so that a gradient may be changed in place.
bool is_owned_alone(const torch::Tensor& numbers);
/// Gives LibTorch's threads neighbouring pieces of some work, at least so many each; at::get_thread_num() says
/// which of them it is. (at::parallel_for shares nothing in sources that are compiled without OpenMP, as ours are.)
/// throws: what work threw
void share_pieces(std::int64_t pieces, std::int64_t at_least,
                  const std::function<void(std::int64_t first, std::int64_t last)>& work);
/// Called on the way back. what: "a direct convolution"; remedy: a sentence with a space before it, or nothing.
/// throws: StateError where the gradient is to be differentiated again
void refuse_second_derivatives(const char* what, const char* remedy = "");

}  // namespace sagips::nn
