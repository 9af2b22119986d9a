#pragma once
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/optim/search/search_space.hpp"

namespace sagips::optim {

/// Points as a Gaussian process sees them: values without an order have a coordinate each, 1 for the
/// one that is taken, and 0 all where the dimension does not count.
/// shape: [points, features], float64; of numbers alone one feature a dimension
torch::Tensor search_features(const SearchSpace& space, const std::vector<Point>& points);

}  // namespace sagips::optim
