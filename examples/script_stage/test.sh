#!/bin/sh
# Checks the stage and trains three epochs with it. my_stage.pt is made where it is missing (needs PyTorch).
set -e
cd "$(dirname "$0")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
[ -e my_stage.pt ] || python3 my_stage.py
sagips check my_stage.yaml
sagips train my_stage.yaml train.epochs=3 run.figures=false run.folder="$folder"
