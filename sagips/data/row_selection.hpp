#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Some of the rows of a data set, a bit for each: a hundred million take 12 MB.
class RowSelection {
 public:
  RowSelection(std::int64_t rows, const std::function<bool(std::int64_t row)>& is_chosen);

  std::int64_t count() const { return counts_.back(); }  ///< of chosen rows
  RowSelection others() const;
  /// Those of the chosen rows, counted in their order, that another selection holds.
  RowSelection part(const RowSelection& of_chosen) const;
  bool holds(std::int64_t row) const {
    return (words_[static_cast<std::size_t>(row / 64)] >> (row % 64) & 1U) != 0;
  }
  /// The chosen row number k, in the order of the rows, for each k.
  /// shape: [numbers] int64 -> [numbers] int64
  torch::Tensor rows_of(const torch::Tensor& numbers) const;

 private:
  std::int64_t row_of(std::int64_t number) const;

  std::int64_t rows_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> counts_;  ///< of chosen rows before each block of words, and of all
};

/// Draws which of `rows` rows belong to one of several parts of given sizes, whose sum that is: each row
/// in turn, by what is left of each part, so that memory does not grow with the rows.
/// source: selection sampling, Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S
RowSelection drawn_part(const std::vector<std::int64_t>& sizes, std::size_t part,
                        const core::RandomStream& stream);

}  // namespace sagips::data
