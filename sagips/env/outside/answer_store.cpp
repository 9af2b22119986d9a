#include "sagips/env/outside/answer_store.hpp"

#include <filesystem>
#include <sstream>

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"

namespace sagips::env {

namespace {

/// What stands before the bytes of an entry: a line with names and shapes, then numbers.
struct Head {
  std::uint64_t key = 0, bytes = 0;
  std::uint32_t checksum = 0, unused = 0;
};

std::string packed(const OutsideArrays& arrays) {
  std::ostringstream line, numbers;
  for (const auto& [name, tensor] : arrays) {
    line << name << ' ' << tensor.dim();
    for (const std::int64_t length : tensor.sizes()) line << ' ' << length;
    line << ' ';
    const torch::Tensor dense = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    numbers.write(static_cast<const char*>(dense.data_ptr()),
                  static_cast<std::streamsize>(dense.nbytes()));
  }
  return line.str() + '\n' + numbers.str();
}

OutsideArrays unpacked(const std::string& bytes) {
  OutsideArrays arrays;
  std::size_t place = bytes.find('\n') + 1;
  std::istringstream line(bytes.substr(0, place));
  std::string name;
  for (std::size_t dimensions = 0; line >> name >> dimensions;) {
    std::vector<std::int64_t> shape(dimensions);
    for (std::int64_t& length : shape) line >> length;
    const torch::Tensor tensor = torch::empty(shape);
    bytes.copy(static_cast<char*>(tensor.data_ptr()), tensor.nbytes(), place);
    place += tensor.nbytes();
    arrays[name] = tensor;
  }
  return arrays;
}

}  // namespace

AnswerStore::AnswerStore(const std::string& path) : path_(path) {
  const std::ofstream made(path, std::ios::app);  // it is there from now on
  file_.open(path, std::ios::binary | std::ios::in | std::ios::out);
  if (!file_) throw core::StorageError(path, "cannot be written. Check its folder.");
  const std::uint64_t size = std::filesystem::file_size(path);
  for (Head head; end_ + sizeof head <= size; end_ += sizeof head + head.bytes) {
    file_.seekg(static_cast<std::streamoff>(end_));
    file_.read(reinterpret_cast<char*>(&head), sizeof head);
    if (head.bytes > size - end_ - sizeof head) break;
    places_[head.key] = end_;
  }
  std::filesystem::resize_file(path, end_);
}

std::optional<OutsideArrays> AnswerStore::find(std::uint64_t key) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  Head head;
  file_.seekg(static_cast<std::streamoff>(found->second));
  file_.read(reinterpret_cast<char*>(&head), sizeof head);
  std::string bytes(head.bytes, '\0');
  file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const bool good = file_.good() && core::crc32c(bytes) == head.checksum;
  file_.clear();
  return good ? std::optional(unpacked(bytes)) : std::nullopt;
}

void AnswerStore::add(std::uint64_t key, const OutsideArrays& arrays) {
  const std::string bytes = packed(arrays);
  const Head head{key, bytes.size(), core::crc32c(bytes)};
  const std::lock_guard lock(mutex_);
  file_.seekp(static_cast<std::streamoff>(end_));
  file_.write(reinterpret_cast<const char*>(&head), sizeof head);
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file_.flush()) throw core::StorageError(path_, "cannot be written. Free some space.");
  places_[key] = end_;
  end_ += sizeof head + bytes.size();
}

std::int64_t AnswerStore::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(places_.size());
}

}  // namespace sagips::env
