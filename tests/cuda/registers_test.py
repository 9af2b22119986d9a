"""What ptxas makes of the kernels: registers suffice for all but the fused dense passes, which leave little to memory.

usage: registers_test.py NVCC FOLDER      FOLDER: sagips/cuda
"""
import os
import re
import subprocess
import sys
import tempfile

# Bytes that a thread of a kernel may store because registers do not suffice.
SPILLED = {"dense.cu": 300, "pair_passes.cu": 500}
ARCHITECTURES = ["sm_80", "sm_90"]

nvcc, folder = sys.argv[1:3]
problems = []
for source in sorted(name for name in os.listdir(folder) if name.endswith(".cu")):
    for architecture in ARCHITECTURES:
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([nvcc, "-std=c++20", "-O3", "-cubin", f"-arch={architecture}", "-Xptxas=-v",
                                   f"-I{folder}/../..", "-o", f"{scratch}/{source}.cubin", f"{folder}/{source}"],
                                  capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{source} for {architecture}: {done.stderr[-2000:]}")
        registers = [int(number) for number in re.findall(r"Used (\d+) registers", done.stderr)]
        spilled = [int(number) for number in re.findall(r"(\d+) bytes spill stores", done.stderr)]
        print(f"{source} {architecture}: {len(registers)} kernels, at most {max(registers, default=0)} registers and "
              f"{max(spilled, default=0)} bytes spilled", flush=True)
        if source != "library.cu" and not registers:
            problems.append(f"{source} for {architecture} has no kernel: {done.stderr[-500:]}")
        if max(spilled, default=0) > SPILLED.get(source, 0):
            problems.append(f"{source} for {architecture} spills {max(spilled)} bytes")
sys.exit("\n".join(problems) or 0)
