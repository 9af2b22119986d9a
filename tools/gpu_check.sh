#!/usr/bin/env bash
# Checks and times SAGIPS on a machine with a GPU: the program that tools/gpu_pack.sh has packed, then its passes alone.
#
# usage: tools/gpu_check.sh [--out FOLDER] [--parts PART,...] [--pack FOLDER]
#   agree   gradients' way over some epochs beside the CPU's, of every kind of problem; a run that goes on bit for bit
#   epoch   the SAGIPS paper's epoch by the program in each precision, beside PyTorch's forms of it in the same call
#   steps   steps of the calorimeter, jets and stress-strain trainings, beside eager PyTorch
#   land    2,000 epochs of proxy1d on both devices: parameters within 0.2 errors
#   long    20,000 epochs of the paper's setting: the GPU's utilisation, and what is not training
#   memory  compute-sanitizer on a small training, where it is there
#   passes  tools/gpu_check.py: each pass against float64, and its time
# FOLDER gets program.json (and passes.json). Without --parts: all but passes, some 5 minutes.
# exit: 0 all held, 1 something did not, 2 there is no GPU or no pack
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="${OUT:-$root/build/gpu_check}" pack="$root/.gpu" parts=agree,epoch,steps,land,long,memory
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out="$2" ;;
    --pack) pack="$2" ;;
    --parts) parts="$2" ;;
    *) sed -n '2,/^set/p' "${BASH_SOURCE[0]}" | sed '$d'; exit 2 ;;
  esac
  shift 2
done
[ -x "$pack/sagips" ] || { echo "gpu_check: no program in $pack; tools/gpu_pack.sh makes it" >&2; exit 2; }
torch="$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')"
mkdir -p "$out"
export LD_LIBRARY_PATH="$torch/lib:$pack/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SAGIPS_CUDA_FOLDER="$pack"
[ -e "$pack/libtorch_cuda.so" ] || ln -s "$torch/lib/libtorch_cuda.so" "$pack/libtorch_cuda.so"
status=0
case ",$parts," in
  *,passes,*)
    python3 "$root/tools/gpu_check.py" --library "$pack/libsagips_cuda.so" --parts check,time --json "$out/passes.json" ||
      status=1 ;;
esac
python3 "$root/tools/gpu_check_program.py" "$pack/sagips" --parts "$parts" --json "$out/program.json" \
  --peer "$root/../shared/tools/gpu_epoch_peer.py" || status=1
exit $status
