#pragma once
#include <string>
#include <variant>
#include <vector>

#include "sagips/record/event.hpp"

namespace sagips::analysis {

/// The events of one kind, in their order; they stay where they are.
template <class Kind>
std::vector<const Kind*> events_of(const std::vector<record::Event>& events) {
  std::vector<const Kind*> found;
  for (const record::Event& event : events)
    if (const auto* one = std::get_if<Kind>(&event)) found.push_back(one);
  return found;
}

/// The first one of that name; null when there is none.
template <class Named>
const Named* find_named(const std::vector<Named>& all, const std::string& name) {
  for (const Named& one : all)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace sagips::analysis
