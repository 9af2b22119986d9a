#include "sagips/data/file_list.hpp"

#include <glob.h>

#include <filesystem>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

using core::DataError;

namespace {

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  const int status = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> names(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (status != 0 || names.empty())
    throw DataError(pattern, "fits no file. Check the pattern and the folder.");
  return names;
}

std::vector<std::string> listed(const std::string& list) {
  const std::string folder = std::filesystem::path(list).parent_path().string();
  std::vector<std::string> names;
  const std::string content(core::without_byte_order_mark(core::read_file(list)));
  for (const std::string& line : core::split(content, '\n'))
    if (const std::string name = core::trim(line); !name.empty() && name.front() != '#')
      names.push_back(core::path_from(folder, name));
  if (names.empty()) throw DataError(list, "names no file. Write one a line.");
  return names;
}

std::vector<std::string> looked_up(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& name) {
    const bool is_pattern = name.find_first_of("*?[") != std::string::npos &&
                            !core::is_remote(name) && !std::filesystem::exists(name);
    const std::vector<std::string> found = is_pattern ? matching(name) : std::vector{name};
    files.insert(files.end(), found.begin(), found.end());
  };
  for (const std::string& name : names)
    for (const std::string& one : name.ends_with(".txt") ? listed(name) : std::vector{name})
      add(one);
  return files;
}

}  // namespace

std::vector<std::string> files_named(const std::vector<std::string>& names,
                                     const Reading& reading) {
  const std::string end(1, '\0');  // which no name holds
  return core::split(reading.once([&] { return core::join(looked_up(names), end); }), end[0]);
}

}  // namespace sagips::data
