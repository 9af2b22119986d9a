#!/bin/sh
# Checks the simulator and trains three epochs with it.
set -e
cd "$(dirname "$0")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
sagips check my_stage.yaml
sagips train my_stage.yaml train.epochs=3 run.figures=false run.folder="$folder"
