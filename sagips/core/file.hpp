#pragma once
#include <string>

namespace sagips::core {

/// Whole file as text. throws: DataError when it cannot be opened
std::string read_file(const std::string& path);

/// Writes aside, syncs, renames: a reader sees the old file or the new one, never half. throws:
/// StorageError
void write_file(const std::string& path, const std::string& content);

/// Makes what was renamed, made or removed in a folder survive a power cut, where the file system
/// can. throws: StorageError
void sync_folder(const std::string& path);

}  // namespace sagips::core
