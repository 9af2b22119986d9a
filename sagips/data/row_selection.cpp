#include "sagips/data/row_selection.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sagips::data {

namespace {

constexpr std::int64_t bits = 64, block_words = 8;

}  // namespace

RowSelection::RowSelection(std::int64_t rows,
                           const std::function<bool(std::int64_t row)>& is_chosen)
    : rows_(rows), words_(static_cast<std::size_t>((rows + bits - 1) / bits)) {
  for (std::int64_t row = 0; row < rows; ++row)
    if (is_chosen(row))
      words_[static_cast<std::size_t>(row / bits)] |= std::uint64_t{1} << (row % bits);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i % block_words == 0) counts_.push_back(count);
    count += std::popcount(words_[i]);
  }
  counts_.push_back(count);
}

RowSelection RowSelection::others() const {
  return {rows_, [this](std::int64_t row) { return !holds(row); }};
}

RowSelection RowSelection::part(const RowSelection& of_chosen) const {
  return {rows_, [&, number = std::int64_t{0}](std::int64_t row) mutable {
            return holds(row) && of_chosen.holds(number++);
          }};
}

// Where rows are chosen evenly, the block is the one that a straight line says, or one beside it.
std::int64_t RowSelection::row_of(std::int64_t number) const {
  const auto last = static_cast<std::int64_t>(counts_.size()) - 2;
  std::int64_t block = number * (last + 1) / std::max<std::int64_t>(1, count());
  while (counts_[static_cast<std::size_t>(block)] > number) --block;
  while (block < last && counts_[static_cast<std::size_t>(block + 1)] <= number) ++block;
  std::int64_t left = number - counts_[static_cast<std::size_t>(block)];
  auto word = static_cast<std::size_t>(block * block_words);
  for (; left >= std::popcount(words_[word]); ++word) left -= std::popcount(words_[word]);
  std::uint64_t rest = words_[word];
  std::int64_t place = static_cast<std::int64_t>(word) * bits;
  for (int half = bits / 2; half >= 8; half /= 2) {
    const std::uint64_t low = rest & ((std::uint64_t{1} << half) - 1);
    const std::int64_t below = std::popcount(low);
    const bool is_above = left >= below;
    left -= is_above ? below : 0;
    place += is_above ? half : 0;
    rest = is_above ? rest >> half : low;
  }
  for (; left > 0; --left) rest &= rest - 1;  // takes the lowest bit away
  return place + std::countr_zero(rest);
}

torch::Tensor RowSelection::rows_of(const torch::Tensor& numbers) const {
  const torch::Tensor dense = numbers.contiguous();
  torch::Tensor rows = torch::empty_like(dense);
  const std::int64_t* const number = dense.const_data_ptr<std::int64_t>();
  std::transform(number, number + numbers.numel(), rows.data_ptr<std::int64_t>(),
                 [&](std::int64_t one) { return row_of(one); });
  return rows;
}

RowSelection drawn_part(const std::vector<std::int64_t>& sizes, std::size_t part,
                        const core::RandomStream& stream) {
  constexpr std::int64_t at_once = 1 << 16;
  constexpr std::uint32_t dimension = 0;
  std::vector<std::int64_t> left = sizes;
  std::int64_t rest = std::accumulate(left.begin(), left.end(), std::int64_t{0});
  std::vector<double> uniform(at_once);
  return {rest, [&](std::int64_t row) {
            if (row % at_once == 0)
              stream.uniform(static_cast<std::uint32_t>(row / at_once), dimension,
                             std::span<double>(uniform));
            double place =
                uniform[static_cast<std::size_t>(row % at_once)] * static_cast<double>(rest--);
            std::size_t owner = 0;
            while (owner + 1 < left.size() && place >= static_cast<double>(left[owner]))
              place -= static_cast<double>(left[owner++]);
            while (left[owner] == 0) --owner;  // rounding may name a part that is full
            --left[owner];
            return owner == part;
          }};
}

}  // namespace sagips::data
