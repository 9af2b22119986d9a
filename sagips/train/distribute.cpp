#include "sagips/train/distribute.hpp"

#include <cstring>

namespace sagips::train {

namespace {

// Data sets as one run of bytes: of each counts, names, reference numbers, then the arrays.
class Packer {
 public:
  void number(std::uint64_t value) { append(&value, sizeof(value)); }
  void number(double value) { append(&value, sizeof(value)); }
  void words(const std::string& value) {
    number(static_cast<std::uint64_t>(value.size()));
    append(value.data(), value.size());
  }
  void floats(const torch::Tensor& values) {
    const torch::Tensor dense = values.to(torch::kCPU, torch::kFloat32).contiguous();
    append(dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel()) * sizeof(float));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class Number>
  Number number() {
    Number value{};
    copy(&value, sizeof(value));
    return value;
  }
  std::string words() {
    std::string value(number<std::uint64_t>(), '\0');
    copy(value.data(), value.size());
    return value;
  }
  torch::Tensor floats(std::vector<std::int64_t> shape) {
    torch::Tensor values = torch::empty(shape);
    copy(values.data_ptr<float>(), static_cast<std::size_t>(values.numel()) * sizeof(float));
    return values;
  }

 private:
  void copy(void* into, std::size_t size) {
    if (size > 0) std::memcpy(into, bytes_.data() + at_, size);
    at_ += size;
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

void pack(Packer& packer, const data::Dataset& dataset) {
  packer.number(static_cast<std::uint64_t>(dataset.size()));
  packer.number(static_cast<std::uint64_t>(dataset.dimensions()));
  packer.number(static_cast<std::uint64_t>(dataset.weights ? 1 : 0));
  packer.words(dataset.origin);
  packer.number(static_cast<std::uint64_t>(dataset.observables.size()));
  for (const std::string& name : dataset.observables) packer.words(name);
  packer.number(static_cast<std::uint64_t>(dataset.reference.size()));
  for (const auto& [name, value] : dataset.reference) {
    packer.words(name);
    packer.number(value);
  }
  packer.floats(dataset.values);
  if (dataset.weights) packer.floats(*dataset.weights);
}

data::Dataset unpack(Unpacker& unpacker) {
  data::Dataset dataset;
  const auto events = static_cast<std::int64_t>(unpacker.number<std::uint64_t>());
  const auto dimensions = static_cast<std::int64_t>(unpacker.number<std::uint64_t>());
  const bool weighted = unpacker.number<std::uint64_t>() != 0;
  dataset.origin = unpacker.words();
  for (auto count = unpacker.number<std::uint64_t>(); count > 0; --count)
    dataset.observables.push_back(unpacker.words());
  for (auto count = unpacker.number<std::uint64_t>(); count > 0; --count) {
    const std::string name = unpacker.words();
    dataset.reference[name] = unpacker.number<double>();
  }
  dataset.values = unpacker.floats({events, dimensions});
  if (weighted) dataset.weights = unpacker.floats({events});
  return dataset;
}

}  // namespace

std::vector<data::Dataset> distribute(comm::Ranks& ranks, std::vector<data::Dataset> events) {
  if (ranks.size() == 1) return events;
  Packer packer;
  if (ranks.is_first()) {
    packer.number(static_cast<std::uint64_t>(events.size()));
    for (const data::Dataset& dataset : events) pack(packer, dataset);
  }
  std::vector<std::byte> bytes = packer.take();
  ranks.broadcast(bytes);
  if (ranks.is_first()) return events;
  Unpacker unpacker(bytes);
  for (auto count = unpacker.number<std::uint64_t>(); count > 0; --count)
    events.push_back(unpack(unpacker));
  return events;
}

}  // namespace sagips::train
