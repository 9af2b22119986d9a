"""Makes stand-ins for the CUDA libraries that PyTorch's wheel links, so that `import torch` works beside the slim set of
libraries that builds use (tools/requirements-slim.txt). For tests: who calls one of their functions gets nothing.

    make_stubs.py TORCH_FOLDER OUT_FOLDER
"""
import collections
import os
import re
import subprocess
import sys

# As their own projects name them; torch 2.11.0's wheel asks for these versions.
STUBS = """libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcufile.so.0 libcurand.so.10
    libcusolver.so.12 libcusparse.so.12 libcusparseLt.so.0 libnccl.so.2 libnvshmem_host.so.3""".split()
USERS = ["libtorch_cuda.so", "libtorch_nvshmem.so", "libc10_cuda.so", "libtorch_python.so", "libtorch_cuda_linalg.so"]


def symbols(library, which):
    output = subprocess.run(["nm", "-D", "--with-symbol-versions", which, library], capture_output=True, text=True,
                            check=True).stdout
    return [line.split()[-1] for line in output.splitlines()]


def files_of_versions(library):
    """Which library a version of symbols belongs to, by the wishes of one that needs it."""
    found, file = {}, ""
    for line in subprocess.run(["readelf", "-V", "-W", library], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if needed := re.search(r"File: (\S+)", line):
            file = needed.group(1)
        if version := re.search(r"Name: (\S+)\s+Flags", line):
            found[version.group(1)] = file
    return found


def main():
    torch, out = sys.argv[1:]
    libraries = os.path.join(torch, "lib")
    os.makedirs(out, exist_ok=True)
    defined = set()
    for name in [*USERS, "libtorch_cpu.so", "libc10.so", "libtorch.so", "libshm.so"]:
        defined.update(symbol.split("@")[0] for symbol in symbols(os.path.join(libraries, name), "--defined-only"))
    runtime = os.path.join(os.path.dirname(torch), "nvidia", "cu13", "lib", "libcudart.so.13")
    defined.update(symbol.split("@")[0] for symbol in symbols(runtime, "--defined-only"))
    versioned = collections.defaultdict(lambda: collections.defaultdict(set))
    plain = set()
    for name in USERS:
        files = files_of_versions(os.path.join(libraries, name))
        for symbol in symbols(os.path.join(libraries, name), "--undefined-only"):
            function, _, version = symbol.partition("@")
            if version and files.get(version.strip("@")) in STUBS:
                versioned[files[version.strip("@")]][version.strip("@")].add(function)
            elif not version and function not in defined and re.match(r"(cu|nccl|nvshmem)", function):
                plain.add(function)
    for name in STUBS:
        functions = set().union(*versioned[name].values()) | (plain if name == "libcudnn.so.9" else set())
        source = "".join(f"void {function}(void) {{}}\n" for function in sorted(functions)) or "\n"
        script = "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n"
                         for version, names in versioned[name].items())
        path = os.path.join(out, name)
        command = ["gcc", "-w", "-shared", "-fPIC", "-x", "c", "-", "-o", path, f"-Wl,-soname,{name}"]
        if script:
            with open(path + ".map", "w") as file:
                file.write(script)
            command.append(f"-Wl,--version-script={path}.map")
        subprocess.run(command, input=source, text=True, check=True)


if __name__ == "__main__":
    main()
