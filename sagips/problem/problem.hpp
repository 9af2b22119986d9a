#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

namespace sagips::problem {

/// What a workload poses: a `Workload` with parameters to find, an `ExampleSource` to learn from, or a kind
/// of problem that a program brings itself (`run::Problem`).
class Problem {
 public:
  virtual ~Problem() = default;
};

/// A workload as the program knows it.
template <class Kind>
struct EntryOf {
  std::string name;
  std::string summary;  ///< one line
  std::map<std::string, std::string>
      settings;  ///< YAML by name; "default" serves when only the workload is named
  std::function<std::unique_ptr<Kind>()> make;

  // Implicit: one of a kind is handed over where those of all kinds are taken.
  operator EntryOf<Problem>() const  // NOLINT(google-explicit-constructor)
      requires(!std::is_same_v<Kind, Problem>) {
    return {name, summary, settings, make};
  }
};

using Entry = EntryOf<Problem>;

}  // namespace sagips::problem
