#!/usr/bin/env bash
# Installs what a build, its tests and its benchmarks need: Debian packages into the system (as root or with sudo),
# Python packages into .venv inside the checkout. A second run finds everything in place and touches no network.
#
#   tools/setup.sh demo      what `make demo` needs: compiler, libraries, LibTorch, gnuplot
#   tools/setup.sh           also what the whole program needs: MPI, pagmo, SimGrid
#   tools/setup.sh tests     also what only tests use, with clang-format and the readers of our files in .venv-checks
#   tools/setup.sh bench     what the whole program and only benchmarks use
#   tools/setup.sh python    what the whole program needs, and what builds the Python package, with PyTorch in .venv
#   tools/setup.sh full      also .venv-full, where `import torch` works (golden dumps, peers)
#   --check                  says what is missing, installs nothing
#   --list                   prints the Debian packages, for an administrator: apt-get install --no-install-recommends
#
# SAGIPS_TORCH=FOLDER       use that LibTorch (it has include/ and lib/) and install no wheel
# SAGIPS_SKIP_PACKAGES=1    leave the system alone: libraries come from elsewhere (CMAKE_PREFIX_PATH)
# exit: 0 all there, 1 an installation failed, 2 something is missing and may not be installed
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# A change of these may recompile nothing that `make demo` compiled: what comes later is seen by sources of its own.
required=(
  g++ cmake ninja-build git python3 python3-venv
  libyaml-cpp-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libhdf5-dev zlib1g-dev libcli11-dev
  librandom123-dev libnlopt-dev libnlopt-cxx-dev gnuplot-nox fonts-dejavu-core
)
optional=(libxsmm-dev)  # matrix products at the rate of the machine; without it those of LibTorch
optional_program=(openmpi-bin libopenmpi-dev  # training on several ranks
                  libpagmo-dev                # evolutionary search for parameters
                  libsimgrid-dev)             # `sagips simulate`: exchanges on simulated clusters
required_python=(python3-dev)
required_tests=(libgtest-dev)
optional_tests=(dataset-fashion-mnist  # images of the problem classify/fashion
                ccache               # builds work without it, only slower when they are repeated
                chromium             # looks at a report in a browser
                python3-numpy        # the simulator in NumPy (examples/process_stage)
                python3-dev          # the Python package
                mpich libmpich-dev)  # SAGIPS works with another MPI
optional_bench=(libdnnl-dev          # one of the rates an epoch is compared with
                python3-numpy python3-mpi4py)  # the paper's ring, as it was written

say() { printf 'setup: %s\n' "$*"; }
complain() { printf 'setup: %s\n' "$*" >&2; }

# --- Debian packages ---------------------------------------------------------------------------------

missing_packages() {
  local known
  known="$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)"
  local package
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$known" || echo "$package"
  done
}

# Prints the command that gives root's rights ("" for root itself); fails when there is none.
root_rights() {
  if [ "$(id -u)" = 0 ]; then
    echo ""
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    echo "sudo -n"
  elif command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; then
    echo "sudo"
  else
    return 1
  fi
}

explain_missing() {
  complain "these Debian packages are missing (SAGIPS cannot be built without them):"
  complain "  $*"
  complain "An administrator gets them with:"
  complain "  apt-get update && apt-get install --no-install-recommends $*"
}

install_packages() {
  local rights="$1" apt
  shift
  apt="$rights env DEBIAN_FRONTEND=noninteractive apt-get"
  say "installing ${#} Debian packages with apt-get${rights:+ ($rights)}: $*"
  $apt install --simulate --no-install-recommends "$@" >/dev/null 2>&1 || $apt update -q
  local package wanted=()
  for package in "$@"; do
    if is_optional "$package" && ! apt-cache show "$package" >/dev/null 2>&1; then
      say "this system offers no $package; going on without it"
    else
      wanted+=("$package")
    fi
  done
  $apt install -y -q --no-install-recommends "${wanted[@]}" ||
    { $apt update -q && $apt install -y -q --no-install-recommends "${wanted[@]}"; }
}

is_optional() { grep -qxF "$1" < <(printf '%s\n' "${optional[@]}"); }

# Only required packages can stop a run: another one that is missing costs its feature.
provide_packages() {
  [ -z "${SAGIPS_SKIP_PACKAGES:-}" ] || return 0
  if ! command -v dpkg-query >/dev/null; then
    complain "this is neither Debian nor Ubuntu (no dpkg). Install the counterparts of these packages, then"
    complain "run again with SAGIPS_SKIP_PACKAGES=1: ${required[*]}"
    exit 2
  fi
  local needed wished rights
  mapfile -t needed < <(missing_packages "${required[@]}")
  mapfile -t wished < <(missing_packages "${optional[@]}")
  [ $((${#needed[@]} + ${#wished[@]})) -gt 0 ] || return 0
  if [ "$check_only" = yes ]; then
    [ ${#needed[@]} -eq 0 ] || { explain_missing "${needed[@]}"; anything_missing=yes; }
    [ ${#wished[@]} -eq 0 ] || complain "not installed, not necessary: ${wished[*]}"
    return 0
  fi
  if rights="$(root_rights)"; then
    if ! install_packages "$rights" "${needed[@]}" "${wished[@]}"; then
      [ ${#needed[@]} -eq 0 ] || install_packages "$rights" "${needed[@]}" ||
        { complain "apt-get failed (its lines above say why)."; explain_missing "${needed[@]}"; exit 1; }
      complain "apt-get failed (its lines above say why); going on without: ${wished[*]}"
    fi
  elif [ ${#needed[@]} -gt 0 ]; then
    explain_missing "${needed[@]}"
    complain "This account is not root and cannot use sudo. Nothing was installed or built."
    exit 2
  else
    complain "going on without these Debian packages, which this account cannot install: ${wished[*]}"
  fi
}

# --- Python packages ---------------------------------------------------------------------------------

has_nvidia_gpu() {
  [ -n "$(ls -A /proc/driver/nvidia/gpus 2>/dev/null)" ] ||
    { command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; }
}

# What a finished environment would have been made from; a stamp inside it holds this line.
fingerprint() {
  local name="$1"
  shift
  echo "$name $(python3 -V 2>&1) $(cat "$@" | sha256sum | cut -c1-16)"
}

# provide_environment FOLDER FINGERPRINT PIP-ARGUMENTS...
provide_environment() {
  local folder="$root/$1" mark="$2"
  shift 2
  [ "$(cat "$folder/sagips-stamp" 2>/dev/null)" != "$mark" ] || return 0
  if [ "$check_only" = yes ]; then
    complain "${folder#"$root/"} is missing or out of date; tools/setup.sh installs $(contents "${mark%% *}")"
    anything_missing=yes
    return 0
  fi
  say "installing Python packages into ${folder#"$root/"}: $(contents "${mark%% *}")"
  if [ -e "$folder/sagips-installing" ]; then
    say "an earlier run was interrupted; starting ${folder#"$root/"} afresh"
    rm -rf "$folder"
  fi
  rm -f "$folder/sagips-stamp"
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  mkdir -p "$folder/sagips-installing"
  pip_in "$folder" "$@" ||
    { complain "pip failed (its lines above say why). The next run starts ${folder#"$root/"} afresh."; exit 1; }
  rm -rf "$folder/sagips-installing"
  echo "$mark" >"$folder/sagips-stamp"
}

contents() {
  case $1 in
    checks) echo "clang-format, nanobind, Keras, TensorBoard, Optuna and others, for tests (500 MB on disk)" ;;
    python) echo "PyTorch with its CUDA libraries (2.5 GB to download, 5 GB on disk), nanobind, matplotlib, pandas" ;;
    slim) echo "LibTorch for CPUs (0.5 GB to download, 1.4 GB on disk)" ;;
    full) echo "PyTorch with its CUDA libraries (2.5 GB to download, 5 GB on disk)" ;;
  esac
}

# The download goes beside the environment: /tmp may be too small for a wheel of half a gigabyte.
pip_in() {
  local folder="$1" quiet=(--quiet)
  shift
  [ ! -t 1 ] || quiet=()
  TMPDIR="$folder/sagips-installing" PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$folder/bin/python" -m pip install "${quiet[@]}" "$@"
}

# Prints own, python, full or slim; the note about what the user offers goes to standard error. An environment that
# holds the Python package keeps its PyTorch.
torch_set() {
  local status=0 line
  if [ "$group" = python ] || [[ "$(cat "$root/.venv/sagips-stamp" 2>/dev/null)" == python* ]]; then
    [ "$group" = python ] || [ -z "${SAGIPS_TORCH:-}" ] && echo python && return 0
  fi
  line="$("$root/tools/find_torch.py" --own)" || status=$?
  case $status in
    0) complain "using the LibTorch at ${line%%;*} (${line##*;})" && echo own ;;
    2) return 2 ;;
    *) if has_nvidia_gpu; then echo full; else echo slim; fi ;;
  esac
}

provide_torch() {
  if ! command -v python3 >/dev/null; then
    complain "LibTorch: looked for once python3 is there"
    anything_missing=yes
    return 0
  fi
  local set file
  set="$(torch_set)" || exit 2
  file="$root/tools/requirements-$set.txt"
  case $set in
    slim) provide_environment .venv "$(fingerprint slim "$file")" --no-deps -r "$file" ;;
    full) provide_environment .venv "$(fingerprint full "$file")" -r "$file" ;;
    python) provide_environment .venv "$(fingerprint python "$file" "${file/python/full}")" -r "$file" ;;
  esac
}

provide_full() {
  local file="$root/tools/requirements-full.txt"
  provide_environment .venv-full "$(fingerprint full "$file")" -r "$file"
}

provide_checks() {
  local file="$root/tools/requirements-checks.txt"
  provide_environment .venv-checks "$(fingerprint checks "$file")" -r "$file"
}

# The handwritten digits of the problem classify/digits: one file of scikit-learn's wheel, of which nothing is installed.
provide_digits() {
  local file="$root/build/datasets/digits.csv.gz" python="$root/.venv/bin/python" aside
  [ ! -s "$file" ] || return 0
  [ -x "$python" ] || python=python3  # LibTorch is the user's own
  if [ "$check_only" = yes ]; then
    complain "not installed, not necessary: the digits of classify/digits (10 MB to download)"
    return 0
  fi
  say "fetching the digits of classify/digits (10 MB to download)"
  aside="$(mktemp -d "$root/build/digits.XXXXXX")"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir --only-binary :all: \
    -r "$root/tools/requirements-digits.txt" -d "$aside" &&
    "$python" -c 'import pathlib, sys, zipfile
wheel = next(pathlib.Path(sys.argv[1]).glob("*.whl"))
pathlib.Path(sys.argv[1], "digits.csv.gz").write_bytes(zipfile.ZipFile(wheel).read("sklearn/datasets/data/digits.csv.gz"))
' "$aside" && mkdir -p "${file%/*}" && mv "$aside/digits.csv.gz" "$file" ||
    complain "no digits (the lines above say why): classify/digits says so when it is asked for"
  rm -rf "$aside"
}

# -----------------------------------------------------------------------------------------------------

check_only=no
list_only=no
with_full=no
with_checks=no
anything_missing=no
group=program
for argument in "$@"; do
  case $argument in
    --check) check_only=yes ;;
    --list) list_only=yes ;;
    demo | tests | bench | python) group="$argument" ;;
    full) with_full=yes ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    *) complain "unknown argument '$argument'. Known: demo, tests, bench, python, full, --check, --list, --help." && exit 2 ;;
  esac
done
[ "$group" = demo ] || optional+=("${optional_program[@]}")
case $group in
  tests) required+=("${required_tests[@]}") && optional+=("${optional_tests[@]}") && with_checks=yes ;;
  python) required+=("${required_python[@]}") ;;
  bench) optional+=("${optional_bench[@]}") ;;
esac
if [ "$list_only" = yes ]; then
  echo "${required[@]}" "${optional[@]}"
  exit 0
fi

provide_packages
if [ "$check_only" = no ]; then
  mkdir -p "$root/build" 2>/dev/null && [ -w "$root/build" ] ||
    { complain "this account ($(id -un)) may not write to $root: clone a checkout of its own"; exit 2; }
  exec 9>"$root/build/setup.lock"
  flock 9
fi
provide_torch
[ "$with_full" = no ] || provide_full
[ "$group" = demo ] || provide_digits
# Only some tests need these, and are skipped without.
[ "$with_checks" = no ] || (provide_checks) || complain "going on without .venv-checks: tests that need it are skipped"
if [ "$anything_missing" = yes ]; then exit 2; fi
[ "$check_only" = no ] || say "nothing is missing"
