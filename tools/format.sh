#!/usr/bin/env bash
# Formats our C++ sources, or with --check only says which are not formatted.
# exit: 0 all formatted, 1 some are not, 77 there is no clang-format 14 (versions differ in what they want)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_clang_format() {
  local program
  for program in .venv-checks/bin/clang-format clang-format-14 clang-format; do
    if [[ "$("$program" --version 2>/dev/null)" == *" version 14."* ]]; then
      echo "$program"
      return 0
    fi
  done
  return 1
}

if ! program="$(find_clang_format)"; then
  echo "format: there is no clang-format 14; tools/setup.sh tests installs it into .venv-checks" >&2
  exit 77
fi
folders=()
for folder in sagips workloads cli bench examples tests; do
  [ ! -d "$folder" ] || folders+=("$folder")
done
mapfile -d '' -t sources < <(find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z)

if [ "${1:-}" != --check ]; then
  exec "$program" -i "${sources[@]}"
fi
# One call for all files; what it says begins with FILE:LINE:COLUMN of each place.
mapfile -t unformatted < <("$program" --dry-run "${sources[@]}" 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
if [ ${#unformatted[@]} -gt 0 ]; then
  printf 'format: %s is not formatted\n' "${unformatted[@]}"
  echo "format: ${#unformatted[@]} of ${#sources[@]} files; \`make format\` puts them right"
  exit 1
fi
echo "format: ${#sources[@]} files, all formatted"
