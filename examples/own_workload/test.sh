#!/bin/sh
# Builds the program, checks its workload and trains three epochs. Where SAGIPS is: CMAKE_PREFIX_PATH or HOME/.local.
set -e
cd "$(dirname "$0")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cmake -S . -B build -DCMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:-$HOME/.local}" -DCMAKE_BUILD_TYPE=Release
cmake --build build
build/my_workload check my_workload
build/my_workload train my_workload train.epochs=3 run.figures=false run.folder="$folder"
