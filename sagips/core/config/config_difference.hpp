#pragma once
#include <functional>
#include <string>
#include <vector>

namespace sagips::core {

/// One line for each key whose value differs between two effective configs, in the order of the
/// newer one: "train.epochs: 500 -> 1000". Lists are compared as a whole; a key that one of them
/// lacks has the value "nothing" there.
/// ignored: keys that may differ
/// throws: ConfigError for what is no YAML, with `older_origin` or "this command"
std::vector<std::string> config_differences(const std::string& older, const std::string& newer,
                                            const std::string& older_origin,
                                            const std::vector<std::string>& ignored = {});

/// The single value of a dotted key; empty when it is not there or no single value.
std::string config_scalar(const std::string& yaml, const std::string& origin,
                          const std::string& dotted_key);

}  // namespace sagips::core
