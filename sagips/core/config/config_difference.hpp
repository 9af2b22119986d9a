#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sagips::core {

/// One line for each key whose value differs between two effective configs, in the order of the
/// newer one: "train.epochs: 500 -> 1000". Lists are compared as a whole; a key that one of them
/// lacks has the value "nothing" there.
/// ignored: keys and groups of keys that may differ
/// throws: ConfigError for what is no YAML, with `older_origin` or "this command"
std::vector<std::string> config_differences(const std::string& older, const std::string& newer,
                                            const std::string& older_origin,
                                            const std::vector<std::string>& ignored = {});

/// Every single value of an effective config with its dotted key; those of a list have the list's key.
/// throws: ConfigError for what is no YAML, with `origin`
std::vector<std::pair<std::string, std::string>> config_scalars(const std::string& yaml,
                                                                const std::string& origin);

/// The single value of a dotted key; empty when it is not there or no single value.
std::string config_scalar(const std::string& yaml, const std::string& origin,
                          const std::string& dotted_key);

}  // namespace sagips::core
