#!/bin/sh
# Builds the plug-in, checks it and trains three epochs with it. Where SAGIPS is: CMAKE_PREFIX_PATH or HOME/.local.
set -e
cd "$(dirname "$0")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cmake -S . -B build -DCMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:-$HOME/.local}" -DCMAKE_BUILD_TYPE=Release
cmake --build build
sagips check my_stage.yaml
sagips train my_stage.yaml train.epochs=3 run.figures=false run.folder="$folder"
