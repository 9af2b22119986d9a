#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {

/// Named things of one kind, passed along and never global. An unknown name is a ConfigError with
/// the nearest known one.
template <class T>
class Registry {
 public:
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  void add(const std::string& name, T thing) {
    if (!things_.emplace(name, std::move(thing)).second)
      throw Error(text(kind_, " '", name, "' is registered twice. Give one of them another name."));
  }
  /// What a thing is called here that others know by that name, in small letters or not.
  void add_foreign_name(const std::string& name, const std::string& here) { foreign_[name] = here; }
  const T& get(const std::string& name, const std::string& where) const {
    const auto found = things_.find(name);
    if (found != things_.end()) return found->second;
    const auto meant = foreign_.find(in_small_letters(name));
    throw ConfigError(where, text("unknown ", kind_, " '", name, "'",
                                  meant == foreign_.end()
                                      ? suggestion(name, names())
                                      : text(", did you mean ", where, "=", meant->second, "?")));
  }
  bool has(const std::string& name) const { return things_.count(name) > 0; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& thing : things_) all.push_back(thing.first);
    return all;
  }

 private:
  std::string kind_;
  std::map<std::string, T> things_;
  std::map<std::string, std::string> foreign_;  ///< names of other programs, and those here
};

}  // namespace sagips::core
