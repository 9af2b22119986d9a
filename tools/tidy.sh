#!/usr/bin/env bash
# Runs clang-tidy on our sources, with the checks of .clang-tidy.
#
#   tools/tidy.sh [PATTERN]    only sources whose path matches PATTERN
#
# Its build folder, build/tidy, has neither precompiled header nor ccache: clang cannot read what g++ precompiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v run-clang-tidy >/dev/null; then
  echo "tidy: clang-tidy is missing; apt-get install clang-tidy" >&2
  exit 2
fi
mkdir -p build/tidy
cmake --preset tidy --log-level=WARNING >build/tidy/configure.log
cmake --build build/tidy --target sagips_version_source >build/tidy/generate.log
run-clang-tidy -quiet -p build/tidy -j "$(nproc)" "^$PWD/(sagips|workloads|cli|bench)/.*${1:-}.*\.cpp$"
echo "tidy: nothing found"
