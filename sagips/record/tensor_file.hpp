#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagips::record {

/// An array as a file holds it: row-major, little-endian.
struct StoredTensor {
  enum class Type { f32, f64, i64, i32, u8 };
  Type type = Type::f32;
  std::vector<std::int64_t> shape;  ///< empty: one number
  std::string bytes;

  static StoredTensor of(std::span<const float> values, std::vector<std::int64_t> shape);
  std::int64_t size() const;  ///< numbers
  /// Every number, whatever its type.
  std::vector<double> numbers() const;
  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

/// Named arrays and named texts in one file of the format "safetensors", which holds nothing that
/// can be executed and which Python reads (`safetensors.numpy.load_file`).
/// source: huggingface/safetensors, README "Format": u64 length of a JSON header, the header, the
/// arrays one behind the other
struct TensorFile {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> notes;

  /// throws: DataError when it is not there. file: for the message
  const StoredTensor& tensor(const std::string& name, const std::string& file) const;
  const std::string& note(const std::string& name, const std::string& file) const;
};

std::string tensor_file_bytes(const TensorFile& content);
/// Refuses what is cut off, is not of this format, overlaps, leaves gaps or has other types.
/// throws: DataError; `file` is for the message
TensorFile parse_tensor_file(std::string_view bytes, const std::string& file);

/// Written aside, synced and renamed. throws: StorageError
void write_tensor_file(const std::string& path, const TensorFile& content);
/// throws: DataError
TensorFile read_tensor_file(const std::string& path);

}  // namespace sagips::record
