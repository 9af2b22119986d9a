#pragma once
#include <string_view>

namespace sagips::core {

/// "0.1.0", as in CMakeLists.txt.
std::string_view version();

/// The commit this library was built from: twelve hexadecimal digits, "-dirty" behind them when the
/// sources held changes that no commit has; "unknown" when they were no git checkout.
std::string_view git_hash();

}  // namespace sagips::core
