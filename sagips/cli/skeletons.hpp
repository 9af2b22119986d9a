#pragma once
#include <string>
#include <vector>

namespace sagips::cli {

struct SkeletonFile {
  std::string name, content;
};

/// What `sagips new KIND NAME language=...` writes: one of the examples, its name in place of
/// "my_KIND". The first of a kind serves when no language is named.
struct Skeleton {
  std::string kind, language;
  std::vector<SkeletonFile> files;
};

/// Generated from examples/ (sagips/cli/CMakeLists.txt).
const std::vector<Skeleton>& skeletons();

}  // namespace sagips::cli
