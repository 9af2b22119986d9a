#include "sagips/env/outside/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"

namespace sagips::env {

using core::DataError;
using core::text;

namespace {

using Fill = void (*)(PluginStages&);

std::string own_build() {
  return text("sagips ", core::version(), " (", core::git_hash(), ")", SAGIPS_PLUGIN_SURROUNDINGS);
}

// Read, not asked for: loading runs the library's code and resolves symbols that another version may
// not have.
std::string build_of(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    throw DataError(
        path, text("is not there (looked for it from ", std::filesystem::current_path().string(),
                   "). Relative paths of a YAML count from its folder, those of the command "
                   "line from where you start."));
  const std::string bytes = core::read_file(path);
  if (bytes.rfind("\x7f"
                  "ELF",
                  0) != 0)
    throw DataError(path, "is no shared library. Build one with sagips_add_plugin.");
  constexpr std::string_view mark = SAGIPS_PLUGIN_MARK;
  const std::size_t place = bytes.find(mark);
  if (place == std::string::npos)
    throw DataError(path,
                    "is no SAGIPS plug-in. Give its source a SAGIPS_PLUGIN and build it with "
                    "sagips_add_plugin.");
  return bytes.c_str() + place + mark.size();
}

}  // namespace

PluginStages load_plugin(const std::string& path) {
  if (const std::string build = build_of(path); build != own_build())
    throw DataError(path, text("was built for ", build, ", and this is ", own_build(),
                               " (their objects may differ). Build it again against this SAGIPS."));
  // Plug-ins find the functions of SAGIPS in what has loaded them: a program lets them by itself, a Python module not.
  ::dlopen(core::own_image().c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  void* const library = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw DataError(path, text("cannot be loaded (", ::dlerror(),
                               "). Link what it needs in its sagips_add_plugin."));
  const auto fill = reinterpret_cast<Fill>(::dlsym(library, "sagips_plugin_stages"));
  if (fill == nullptr)
    throw DataError(path, "has no sagips_plugin_stages. Give its source a SAGIPS_PLUGIN.");
  PluginStages stages;
  fill(stages);
  return stages;
}

}  // namespace sagips::env
