#include "sagips/train/distribute.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sagips::train {

namespace {

/// Data sets as one run of bytes, which are unpacked in the order in which they were packed.
class Archive {
 public:
  Archive() = default;  // to pack into
  explicit Archive(std::vector<std::byte> bytes) : packs_(false), bytes_(std::move(bytes)) {}

  template <class Number>
  void number(Number& value) {
    pass(&value, sizeof(value));
  }
  template <class List, class PassOne>
  void list(List& values, const PassOne& pass_one) {
    std::uint64_t count = values.size();
    number(count);
    values.resize(count);
    for (auto& value : values) pass_one(value);
  }
  void words(std::string& value) {
    list(value, [this](char& letter) { number(letter); });
  }
  void floats(torch::Tensor& values) {
    std::vector<std::int64_t> shape;
    if (packs_) shape = values.sizes().vec();
    list(shape, [this](std::int64_t& length) { number(length); });
    const torch::Tensor dense =
        packs_ ? values.to(torch::kCPU, torch::kFloat32).contiguous() : torch::empty(shape);
    pass(dense.data_ptr<float>(), dense.nbytes());
    if (!packs_) values = dense;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void pass(void* place, std::size_t size) {
    auto* const first = static_cast<std::byte*>(place);
    if (packs_)
      bytes_.insert(bytes_.end(), first, first + size);
    else
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), size, first);
    at_ += size;
  }
  bool packs_ = true;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

void pass(Archive& archive, data::Dataset& dataset) {
  archive.words(dataset.origin);
  archive.list(dataset.observables, [&](std::string& name) { archive.words(name); });
  std::vector<std::pair<std::string, double>> reference(dataset.reference.begin(),
                                                        dataset.reference.end());
  archive.list(reference, [&](auto& entry) {
    archive.words(entry.first);
    archive.number(entry.second);
  });
  dataset.reference = {reference.begin(), reference.end()};
  archive.floats(dataset.values);
  bool weighted = dataset.weights.has_value();
  archive.number(weighted);
  if (!weighted) return;
  if (!dataset.weights) dataset.weights.emplace();
  archive.floats(*dataset.weights);
}

void pass(Archive& archive, std::vector<data::Dataset>& events) {
  archive.list(events, [&](data::Dataset& dataset) { pass(archive, dataset); });
}

}  // namespace

std::vector<data::Dataset> distribute(comm::Ranks& ranks, std::vector<data::Dataset> events) {
  if (ranks.size() == 1) return events;
  Archive packed;
  if (ranks.is_first()) pass(packed, events);
  std::vector<std::byte> bytes = packed.take();
  ranks.broadcast(bytes);
  if (ranks.is_first()) return events;
  Archive received(std::move(bytes));
  pass(received, events);
  return events;
}

}  // namespace sagips::train
