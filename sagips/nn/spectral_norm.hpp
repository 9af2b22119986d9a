#pragma once
#include <vector>

#include <torch/types.h>

#include "sagips/core/random.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::nn {

/// Keeps the largest singular value of each weight matrix of a network at 1, so that its output
/// changes by no more than its input does (LeakyReLU has slopes up to 1).
///
/// The weights themselves are divided, after each update: W <- W / sigma(W). Miyato et al. instead
/// keep W and differentiate through the quotient; both walk on the same set, this one needs nothing
/// of the layers. Biases are left alone.
///
/// cost:   6 products of a matrix and a vector for each weight matrix and update
/// source: Miyato et al., ICLR 2018 (arXiv 1802.05957), algorithm 1
class SpectralNorm {
 public:
  /// Divides the present weights as well. The replica must stay where it is.
  SpectralNorm(Replica& replica, const core::RandomStream& stream);

  /// Divides the weights again after they have changed.
  void normalise();
  void state(StateList& list);

 private:
  torch::Tensor largest(const torch::Tensor& weight, torch::Tensor& left) const;

  Replica* replica_;
  std::vector<torch::Tensor> left_;  ///< first left singular vectors, as found so far
};

}  // namespace sagips::nn
