#include "sagips/nn/python_function.hpp"

#include <mutex>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

namespace {

struct PythonFinder {
  std::mutex mutex{};
  FindPythonFunction find{};
};

PythonFinder& python_finder() {
  static PythonFinder finder;
  return finder;
}

}  // namespace

bool is_python(const std::string& word) {
  const std::string name = word.substr(0, word.find('('));
  const std::string last = name.substr(name.rfind('/') + 1);
  return last.ends_with(".pickle") ||
         (last.find(':') != std::string::npos && !last.ends_with(".pt"));
}

void find_python_functions(FindPythonFunction find) {
  const std::lock_guard lock(python_finder().mutex);
  python_finder().find = std::move(find);
}

PythonFunction python_function(const std::string& word, const std::string& kind,
                               const std::string& key) {
  FindPythonFunction find;
  {
    const std::lock_guard lock(python_finder().mutex);
    find = python_finder().find;
  }
  if (!find) throw core::ConfigError(key, not_python(word));
  return find(word, kind);
}

std::string not_python(const std::string& word) {
  return core::text("'", core::excerpt(word),
                    "' is written in Python, and this program is not. Use `python -m sagips` in "
                    "place of `sagips`.");
}

}  // namespace sagips::nn
