#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/skeletons.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

using core::ConfigError;
using core::text;

constexpr const char* command_line = "command line";

std::string checked_name(const std::vector<std::string>& words) {
  if (words.size() != 1)
    throw ConfigError(command_line,
                      "say what it is called: sagips new stage NAME, or sagips new workload NAME.");
  const std::string& name = words.front();
  const bool fits = !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
                    std::all_of(name.begin(), name.end(), [](char letter) {
                      return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                             letter == '_';
                    });
  if (!fits)
    throw ConfigError(command_line, text("'", core::excerpt(name),
                                         "' cannot be a name (it names files and C++ types). Use "
                                         "small letters, digits and '_', a letter first."));
  return name;
}

std::string cap_words(const std::string& name) {
  std::string result;
  for (const std::string& word : core::split(name, '_'))
    for (std::size_t i = 0; i < word.size(); ++i)
      result +=
          i == 0 ? static_cast<char>(std::toupper(static_cast<unsigned char>(word[i]))) : word[i];
  return result;
}

std::string replaced(std::string whole, const std::string& old, const std::string& fresh) {
  for (std::size_t at = 0; (at = whole.find(old, at)) != std::string::npos; at += fresh.size())
    whole.replace(at, old.size(), fresh);
  return whole;
}

const Skeleton& skeleton_of(const std::string& kind, const std::string& language) {
  std::vector<std::string> known;
  for (const Skeleton& skeleton : skeletons()) {
    if (skeleton.kind != kind) continue;
    if (language.empty() || skeleton.language == language) return skeleton;
    known.push_back(skeleton.language);
  }
  if (known.empty())
    throw ConfigError(command_line, text("'", core::excerpt(kind),
                                         "' is neither stage nor workload. Write sagips new stage "
                                         "NAME or sagips new workload NAME."));
  throw ConfigError(command_line, text("no ", kind, " is written in language=",
                                       core::excerpt(language), core::suggestion(language, known)));
}

void write_files(const Skeleton& skeleton, const std::string& name) {
  const std::string placeholder = "my_" + skeleton.kind;
  for (const SkeletonFile& file : skeleton.files) {
    const std::string path = name + "/" + replaced(file.name, placeholder, name);
    core::write_file(path, replaced(replaced(file.content, placeholder, name),
                                    cap_words(placeholder), cap_words(name)));
    if (file.name == "test.sh")
      std::filesystem::permissions(path,
                                   std::filesystem::perms::owner_exec |
                                       std::filesystem::perms::group_exec |
                                       std::filesystem::perms::others_exec,
                                   std::filesystem::perm_options::add);
    std::cout << path << '\n';
  }
}

}  // namespace

core::ExitCode write_skeleton(const Workloads&, const Arguments& arguments) {
  std::vector<std::string> words = arguments.assignments;
  const std::string language = take_assignment(words, "language");
  const Skeleton& skeleton = skeleton_of(arguments.source, language);
  const std::string name = checked_name(words);
  if (std::filesystem::exists(name))
    throw core::StorageError(name, "is already there. Choose another name or remove it.");
  std::filesystem::create_directory(name);
  try {
    write_files(skeleton, name);
  } catch (const core::Error&) {
    std::filesystem::remove_all(name);
    throw;
  }
  std::cout << "next: " << name << "/README.md says the commands, " << name << "/test.sh runs them"
            << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
