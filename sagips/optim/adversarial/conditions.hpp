#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/random.hpp"
#include "sagips/core/row_tensors.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// One of the things that an example is made for.
struct Condition {
  std::string name;
  core::RowTensor target{};  ///< in the rows of all targets
  std::int64_t classes = 0;  ///< that there are; 0: it is values
  std::int64_t width() const { return classes > 0 ? classes : target.numbers(); }
};

/// What a generator is given: conditions (a class as a 1 among zeros), then normal numbers.
class GeneratorInput {
 public:
  GeneratorInput() = default;
  GeneratorInput(std::vector<Condition> conditions, std::int64_t noise)
      : conditions_(std::move(conditions)), noise_(noise) {}

  const std::vector<Condition>& conditions() const { return conditions_; }
  std::int64_t width() const;
  /// The numbers of a row's noise are named by stream and row, whoever computes it.
  /// first: number of the first row; shapes: targets [rows, numbers] -> [rows, width]
  torch::Tensor operator()(const torch::Tensor& targets, const core::RandomStream& noise,
                           std::int64_t first) const;

 private:
  std::vector<Condition> conditions_;
  std::int64_t noise_ = 0;
};

}  // namespace sagips::optim
