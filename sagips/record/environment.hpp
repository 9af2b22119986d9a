#pragma once
#include <string>
#include <vector>

namespace sagips::record {

/// One fact about where and with what a run was made: {"LibTorch", "2.11.0"}.
struct NamedText {
  std::string name, value;
};

/// environment.json: the facts in their order. throws: StorageError
void write_environment(const std::string& path, const std::vector<NamedText>& facts);

/// throws: DataError when the file is missing or holds anything else
std::vector<NamedText> read_environment(const std::string& path);

}  // namespace sagips::record
