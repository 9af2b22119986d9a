#pragma once
#include <string>
#include <vector>

namespace sagips::run {

/// What a command reads, and what it writes must therefore not replace.
struct FilesRead {
  std::vector<std::string> files{};    ///< also patterns and lists
  std::vector<std::string> configs{};  ///< effective ones, as text: each file that they name
  /// Run folders: their own files but for the report and predictions, what their config names, and the same
  /// of a study's members.
  std::vector<std::string> runs{};
};

/// Compares files as the file system does: links and other names of a file are that file. Nothing is looked
/// at where nothing would be replaced.
/// key: what has named the files to be written. throws: ConfigError
void refuse_to_replace(const FilesRead& read, const std::string& key,
                       const std::vector<std::string>& written);

}  // namespace sagips::run
