#pragma once
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::core {

/// Says, behind the lines that list them, that these fields have an effect only where `holds`, which
/// the values decide that the struct has now. Of several conditions the first that does not hold is told.
/// needs: in words: "rule=rmsprop or adadelta"
/// names: dotted below groups; those that are not there are passed over, since workloads differ
void needs(const FieldList& list, bool holds, const std::string& needs,
           const std::vector<std::string>& names);

/// A key without an effect, and what it needs to have one.
struct KeyWithoutEffect {
  std::string key, needs;
};

/// Those whose values are not the `usual` ones.
std::vector<KeyWithoutEffect> keys_without_effect(const FieldList& fields, const FieldList& usual);

/// What a key needs to have an effect; empty: nothing, or it is not there.
std::string needed_by(const FieldList& fields, const std::string& key);

}  // namespace sagips::core
