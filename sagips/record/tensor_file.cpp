#include "sagips/record/tensor_file.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::record {
namespace {

using core::DataError;
using nlohmann::ordered_json;
using Type = StoredTensor::Type;

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr const char* notes_key = "__metadata__";

struct TypeEntry {
  Type type;
  const char* name;
  std::int64_t bytes;
};
constexpr TypeEntry types[] = {{Type::f32, "F32", 4},
                               {Type::f64, "F64", 8},
                               {Type::i64, "I64", 8},
                               {Type::i32, "I32", 4},
                               {Type::u8, "U8", 1}};

const TypeEntry& entry(Type type) {
  return *std::find_if(std::begin(types), std::end(types),
                       [&](const TypeEntry& known) { return known.type == type; });
}

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw DataError(file, problem + " (it is damaged or no safetensors file). Take an earlier copy.");
}

template <class Number>
std::vector<double> as_double(const std::string& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof(Number));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

// How many bytes an array of that shape takes; refuses what no file can hold.
std::uint64_t bytes_of(const TypeEntry& type, const std::vector<std::int64_t>& shape,
                       std::uint64_t limit, const std::string& file) {
  std::uint64_t bytes = static_cast<std::uint64_t>(type.bytes);
  for (const std::int64_t length : shape) {
    if (length < 0 || (length > 0 && bytes > limit / static_cast<std::uint64_t>(length)))
      refuse(file, "an array is larger than the file");
    bytes *= static_cast<std::uint64_t>(length);
  }
  return bytes;
}

struct Place {
  std::uint64_t begin = 0, end = 0;
};

StoredTensor parse_tensor(const ordered_json& described, std::string_view data,
                          const std::string& name, const std::string& file, Place& place) {
  const auto word = described.at("dtype").get<std::string>();
  const auto* known = std::find_if(std::begin(types), std::end(types),
                                   [&](const TypeEntry& type) { return word == type.name; });
  if (known == std::end(types))
    refuse(file, core::text("array '", core::excerpt(name), "' has the type '", core::excerpt(word),
                            "', which SAGIPS does not write"));
  StoredTensor tensor;
  tensor.type = known->type;
  tensor.shape = described.at("shape").get<std::vector<std::int64_t>>();
  const auto offsets = described.at("data_offsets").get<std::vector<std::uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size())
    refuse(file, core::text("array '", core::excerpt(name), "' lies outside the file"));
  place = {offsets[0], offsets[1]};
  if (bytes_of(*known, tensor.shape, data.size(), file) != place.end - place.begin)
    refuse(file, core::text("array '", core::excerpt(name), "' has another length than its shape"));
  tensor.bytes = std::string(data.substr(place.begin, place.end - place.begin));
  return tensor;
}

// The arrays must fill the file, each byte once.
void check_places(std::vector<Place> places, std::size_t size, const std::string& file) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t at = 0;
  for (const Place& place : places) {
    if (place.begin != at) refuse(file, "its arrays overlap or leave gaps");
    at = place.end;
  }
  if (at != size) refuse(file, "bytes are left over behind its arrays");
}

}  // namespace

StoredTensor StoredTensor::of(std::span<const float> values, std::vector<std::int64_t> shape) {
  StoredTensor tensor{Type::f32, std::move(shape), {}};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  if (tensor.size() != static_cast<std::int64_t>(values.size()))
    throw core::Error(core::text("an array of ", values.size(), " numbers was given the shape of ",
                                 tensor.size(), ". Report this."));
  return tensor;
}

std::int64_t StoredTensor::size() const {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  return count;
}

std::vector<double> StoredTensor::numbers() const {
  switch (type) {
    case Type::f32:
      return as_double<float>(bytes);
    case Type::f64:
      return as_double<double>(bytes);
    case Type::i64:
      return as_double<std::int64_t>(bytes);
    case Type::i32:
      return as_double<std::int32_t>(bytes);
    case Type::u8:
      return as_double<std::uint8_t>(bytes);
  }
  return {};
}

const StoredTensor& TensorFile::tensor(const std::string& name, const std::string& file) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) refuse(file, core::text("it lacks the array '", name, "'"));
  return found->second;
}

const std::string& TensorFile::note(const std::string& name, const std::string& file) const {
  const auto found = notes.find(name);
  if (found == notes.end()) refuse(file, core::text("it lacks the note '", name, "'"));
  return found->second;
}

std::string tensor_file_bytes(const TensorFile& content) {
  ordered_json header = ordered_json::object();
  if (!content.notes.empty()) header[notes_key] = content.notes;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const std::uint64_t end = at + tensor.bytes.size();
    header[name] = {
        {"dtype", entry(tensor.type).name}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string words = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  words.resize((words.size() + 7) / 8 * 8, ' ');  // arrays begin where a double may lie
  const auto length = static_cast<std::uint64_t>(words.size());
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  bytes.reserve(length_bytes + words.size() + at);
  bytes += words;
  for (const auto& [name, tensor] : content.tensors) bytes += tensor.bytes;
  return bytes;
}

TensorFile parse_tensor_file(std::string_view bytes, const std::string& file) {
  std::uint64_t length = 0;
  if (bytes.size() < length_bytes) refuse(file, "it is cut off");
  std::memcpy(&length, bytes.data(), length_bytes);
  if (length > longest_header || length > bytes.size() - length_bytes)
    refuse(file, "its header is longer than the file");
  const std::string_view words = bytes.substr(length_bytes, length);
  const std::string_view data = bytes.substr(length_bytes + length);
  TensorFile content;
  try {
    const ordered_json header = ordered_json::parse(words.begin(), words.end());
    std::vector<Place> places;
    for (const auto& [name, described] : header.items()) {
      if (name == notes_key) {
        content.notes = described.get<std::map<std::string, std::string>>();
        continue;
      }
      Place place;
      content.tensors[name] = parse_tensor(described, data, name, file, place);
      places.push_back(place);
    }
    check_places(std::move(places), data.size(), file);
  } catch (const ordered_json::exception&) {
    refuse(file, "its header cannot be read");
  }
  return content;
}

void write_tensor_file(const std::string& path, const TensorFile& content) {
  core::write_file(path, tensor_file_bytes(content));
}

TensorFile read_tensor_file(const std::string& path) {
  return parse_tensor_file(core::read_file(path), path);
}

}  // namespace sagips::record
