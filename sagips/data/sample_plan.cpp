#include "sagips/data/sample_plan.hpp"

#include <algorithm>
#include <numeric>

#include "sagips/core/random.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/data/node_memory.hpp"

namespace sagips::data {

SamplePlan::SamplePlan(std::int64_t rows, std::uint64_t seed, std::int64_t shuffle_rows)
    : rows_(rows),
      block_chunks_(std::max<std::int64_t>(1, shuffle_rows / chunk_rows)),
      seed_(seed) {
  if (rows <= shuffle_rows) block_chunks_ = rows / chunk_rows + 1;
}

std::int64_t SamplePlan::rows_in(std::int64_t chunk) const {
  return std::min(chunk_rows, rows_ - chunk * chunk_rows);
}

void SamplePlan::begin_epoch(std::uint32_t epoch) const {
  const std::int64_t chunks = (rows_ + chunk_rows - 1) / chunk_rows;
  if (chunks <= block_chunks_) {  // one block, whose rows are put in order at once
    chunks_.resize(static_cast<std::size_t>(chunks));
    std::iota(chunks_.begin(), chunks_.end(), 0);
  } else {
    chunks_ = shuffled_rows(chunks, core::RandomStream(seed_, "order of the chunks", epoch));
  }
  block_begins_ = {0};
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    begin += rows_in(chunks_[static_cast<std::size_t>(i)]);
    if ((i + 1) % block_chunks_ == 0 || i + 1 == chunks) block_begins_.push_back(begin);
  }
  epoch_ = epoch;
  order_ = torch::Tensor();
}

// A rank holds no more than a few such orders at a time, beside the rows of its node.
torch::Tensor SamplePlan::order_of(std::size_t block) const {
  const auto first = static_cast<std::int64_t>(block) * block_chunks_;
  const std::int64_t last =
      std::min(first + block_chunks_, static_cast<std::int64_t>(chunks_.size()));
  std::int64_t count = 0;
  for (std::int64_t i = first; i < last; ++i)
    count += rows_in(chunks_[static_cast<std::size_t>(i)]);
  const core::RandomStream stream(seed_, "order of the rows", epoch_);
  std::vector<std::int64_t> mixed = shuffled_rows(count, stream, static_cast<std::uint32_t>(block));
  const torch::Tensor rows = torch::empty({count}, torch::kInt64);
  auto* place = rows.data_ptr<std::int64_t>();
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t chunk = chunks_[static_cast<std::size_t>(i)];
    std::iota(place, place + rows_in(chunk), chunk * chunk_rows);
    place += rows_in(chunk);
  }
  return rows.index_select(0, torch::from_blob(mixed.data(), {count}, torch::kInt64));
}

torch::Tensor SamplePlan::rows_at(std::uint32_t epoch, std::int64_t place,
                                  std::int64_t count) const {
  if (epoch != epoch_) begin_epoch(epoch);
  std::vector<torch::Tensor> pieces;
  if (count == 0) pieces.push_back(torch::empty({0}, torch::kInt64));
  while (count > 0) {
    const auto next = std::upper_bound(block_begins_.begin(), block_begins_.end(), place);
    const auto block = static_cast<std::size_t>(next - block_begins_.begin() - 1);
    if (!order_.defined() || block != block_) {
      constexpr std::int64_t many_rows = std::int64_t{1} << 17;
      order_ = torch::Tensor();
      order_ = order_of(block);
      block_ = block;
      if (order_.size(0) > many_rows) return_freed_memory();
    }
    const std::int64_t taken = std::min(count, *next - place);
    pieces.push_back(order_.narrow(0, place - block_begins_[block], taken));
    place += taken;
    count -= taken;
  }
  return pieces.size() == 1 ? pieces[0] : torch::cat(pieces);
}

}  // namespace sagips::data
