#include "sagips/run/files_read.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "sagips/core/config/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/file_list.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

namespace {

namespace fs = std::filesystem;
namespace run_files = record::run_files;
using Use = std::function<void(const std::string& file, const std::string& what)>;

// A pattern that fits nothing and a list that is gone name nothing that could be lost.
void for_each_named(const std::string& name, const std::string& what, const Use& use) {
  use(name, what);
  try {
    for (const std::string& file : data::files_named({name}, {})) use(file, what);
  } catch (const core::DataError&) {
  }
}

// Effective configs hold absolute paths.
void for_each_of_config(const std::string& yaml, const std::string& origin, const Use& use) {
  for (const auto& [key, value] : core::config_scalars(yaml, origin))
    if (value.starts_with('/')) for_each_named(value, "what " + key + " names", use);
}

void for_each_of_run(const std::string& folder, const Use& use) {
  const std::string what = "a file of " + folder;
  const auto see = [&](const fs::path& file) {
    use(file.string(), what);
    if (file.filename() == run_files::config.name)
      for_each_of_config(core::read_file(file.string()), file.string(), use);
  };
  for (const record::RunFile& one : run_files::all) {
    const fs::path path = fs::path(folder) / one.name;
    std::error_code unreadable;
    if (fs::is_regular_file(path, unreadable) && one.name != run_files::report.name) see(path);
    for (fs::recursive_directory_iterator entry(path, unreadable), end; !unreadable && entry != end;
         entry.increment(unreadable))
      if (entry->is_regular_file(unreadable)) see(entry->path());
  }
}

}  // namespace

void refuse_to_replace(const FilesRead& read, const std::string& key,
                       const std::vector<std::string>& written) {
  std::vector<std::string> there = written;
  std::error_code unreadable;
  std::erase_if(there, [&](const std::string& file) { return !fs::exists(file, unreadable); });
  if (there.empty()) return;
  const Use refuse = [&](const std::string& file, const std::string& what) {
    for (const std::string& one : there)
      if (fs::equivalent(one, file, unreadable))
        throw core::ConfigError(key, core::text(one, " is ", what, one == file ? "" : " as " + file,
                                                ", and would be replaced. Choose another name."));
  };
  for (const std::string& name : read.files) for_each_named(name, "what is read", refuse);
  for (const std::string& config : read.configs) for_each_of_config(config, "config", refuse);
  for (const std::string& folder : read.runs) for_each_of_run(folder, refuse);
}

}  // namespace sagips::run
