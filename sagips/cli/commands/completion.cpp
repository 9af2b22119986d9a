#include "sagips/cli/completion.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

using Words = std::vector<std::string>;

// Both ask the program, whose name stands for '%': so they know the keys of a YAML file and of a
// program of one's own. A word behind '=' is a value, which may be a file.
constexpr const char* bash_script = R"script(# in ~/.bashrc: source <(% completion bash)
_%_words() {
  COMPREPLY=()
  [[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD-1]} == = ]] && return
  mapfile -t COMPREPLY < \
    <("${COMP_WORDS[0]}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _%_words %
)script";
constexpr const char* zsh_script = R"script(#compdef %
# in ~/.zshrc, after compinit: source <(% completion zsh)
_%_words() {
  local -a found
  compset -P '*=' ||
    found=(${(f)"$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  (( $#found )) || { _files; return }
  compadd -S '' -- ${(M)found:#*=}
  compadd -- ${found:#*=}
}
compdef _%_words %
)script";

bool is_option(const std::string& word) { return word.starts_with("-"); }

Words workload_names(const Workloads& workloads) {
  Words all = workloads.names();
  for (const std::string& name : workloads.names())
    for (const auto& settings : workloads.get(name, "completion").settings)
      if (settings.first != "default") all.push_back(name + "/" + settings.first);
  return all;
}

/// Keys of single values, without those that stand for any item.
Words keys(const Workloads& workloads, const std::string& source) {
  Job job = run::read_any_job(workloads, source, {});
  Words all;
  for (const core::FieldDescription& field : run::describe_job(workloads, job, {})) {
    const Words names = core::split(field.key, '.');
    const bool any = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name == core::any_number || name == core::any_name;
    });
    if (!any && field.type != "group" && field.type != "groups by name") all.push_back(field.key);
  }
  return all;
}

Words first_arguments(const CommandEntry& entry, const Workloads& workloads) {
  if (!entry.source_words.empty()) return entry.source_words;
  const std::string source = entry.source;
  if (source == "NAME|FILE") return workload_names(workloads);
  std::set<std::string> all;
  if (source == "KEY")
    for (const std::string& name : workloads.names())
      for (const std::string& key : keys(workloads, name)) all.insert(key);
  return {all.begin(), all.end()};
}

Words arguments_of(const CommandEntry& entry, const Workloads& workloads, const Words& words) {
  const std::string& before = words[words.size() - 2];
  Words all;
  if (is_option(words.back())) {
    all.emplace_back("--help");
    for (const CommandOption& option : entry.options)
      if (!option.hidden) all.push_back(core::text("--", option.name));
    return all;
  }
  for (const CommandOption& option : entry.options)
    if (before == core::text("--", option.name) && *option.value != '\0') return {};
  const auto source = std::find_if_not(words.begin() + 1, words.end() - 1, is_option);
  if (source == words.end() - 1) return first_arguments(entry, workloads);
  if (entry.source != std::string("NAME|FILE")) return {};
  for (const std::string& key : keys(workloads, *source)) all.push_back(key + "=");
  return all;
}

}  // namespace

Words completions(std::span<const CommandEntry> commands, const Workloads& workloads,
                  const Words& words) {
  Words all;
  if (words.size() < 2) {
    for (const CommandEntry& entry : commands) all.emplace_back(entry.name);
  } else {
    try {
      for (const CommandEntry& entry : commands)
        if (words.front() == entry.name) all = arguments_of(entry, workloads, words);
    } catch (const core::Error&) {  // a config that is not finished has no keys yet
    }
  }
  if (!words.empty())
    std::erase_if(all, [&](const std::string& one) { return !one.starts_with(words.back()); });
  return all;
}

core::ExitCode completion(const Workloads&, const Arguments& arguments) {
  const bool is_bash = arguments.source == "bash";
  if (!is_bash && arguments.source != "zsh")
    throw core::ConfigError("command line",
                            core::text("no completion is written for '",
                                       core::excerpt(arguments.source), "'. Name bash or zsh."));
  const std::string program = std::filesystem::path(core::own_program()).filename();
  const std::string script = is_bash ? bash_script : zsh_script;
  std::cout << core::join(core::split(script, '%'), program) << std::flush;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
