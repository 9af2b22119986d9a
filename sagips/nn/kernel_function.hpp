#pragma once
#include <torch/types.h>

namespace sagips::nn {

// What LibTorch functions around kernels of our own have in common.

/// Whether kernels can work on these numbers: float32 in this machine's memory, any at all.
bool suits_kernels(const torch::Tensor& numbers);
/// Called on the way back. what: "a direct convolution"; remedy: a sentence with a space before it, or nothing.
/// throws: StateError where the gradient is to be differentiated again
void refuse_second_derivatives(const char* what, const char* remedy = "");

}  // namespace sagips::nn
