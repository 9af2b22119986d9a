#!/usr/bin/env bash
# Configures and builds one preset, then says what the compiler cache saved.
#
#   tools/build.sh PRESET [-DNAME=VALUE...] [target...]     PRESET: release, dev, asan, tsan; no target: all
#
# What -D sets stays in the build folder.
# JOBS=N compiles N sources at a time; default: one per core, fewer when memory is short.
# SAGIPS_KEEP_GOING=1 goes on behind errors, so that one call shows them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset="${1:?usage: tools/build.sh PRESET [-DNAME=VALUE...] [target...]}"
shift
settings=() targets=()
for argument in "$@"; do
  case $argument in
    -D*) settings+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done
folder="build/$preset"

# A source that reads LibTorch takes 1.4 GB of memory to compile.
default_jobs() {
  local cores memory_jobs
  cores="$(nproc)"
  memory_jobs="$(awk '/^MemAvailable/ {print int($2 / 1600000)}' /proc/meminfo)"
  [ "$memory_jobs" -ge 1 ] || memory_jobs=1
  echo $((cores < memory_jobs ? cores : memory_jobs))
}

# ccache needs a folder it can write, also where an account has no home.
if [ -z "${CCACHE_DIR:-}" ] && ! mkdir -p "${HOME:-/nonexistent}/.cache/ccache" 2>/dev/null; then
  export CCACHE_DIR="$PWD/build/ccache"
fi
mkdir -p "$folder"
export CCACHE_STATSLOG="$PWD/$folder/ccache.log"
rm -f "$CCACHE_STATSLOG"

cmake --preset "$preset" "${settings[@]}" >"$folder/configure.log"
grep -E "(is not here|cannot be used).*[(]Debian:" "$folder/configure.log" | sed 's/^-- /build: /' || true
cmake --build "$folder" --parallel "${JOBS:-$(default_jobs)}" ${targets:+--target "${targets[@]}"} ${SAGIPS_KEEP_GOING:+-- -k 0}

if [ -s "$CCACHE_STATSLOG" ] && command -v ccache >/dev/null; then
  compiles="$(grep -cE '^(direct|preprocessed)_cache_hit$|^cache_miss$' "$CCACHE_STATSLOG" || true)"
  hits="$(grep -cE '^(direct|preprocessed)_cache_hit$' "$CCACHE_STATSLOG" || true)"
  echo "build: $preset in $folder; ccache answered $hits of $compiles compilations ($((100 * hits / (compiles > 0 ? compiles : 1))) %)"
else
  echo "build: $preset in $folder; nothing had to be compiled"
fi
