#!/bin/sh
# Solves toy data, and tests the errors on two more sets of them.
set -e
cd "$(dirname "$0")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
sagips solve choice.yaml run.figures=false run.folder="$folder"
sagips closure choice.yaml --experiments 2 run.figures=false run.folder="$folder"
