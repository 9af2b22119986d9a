"""The conformance checks pass with MPICH too: comm alone is built against it in a temporary folder and run.

usage: mpich_test.py SOURCE_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
RANKS = (1, 2, 3, 4)


def run(*command):
    print("+", *command, flush=True)
    subprocess.run(command, check=True)


def main(source):
    compiler, launcher = shutil.which("mpicc.mpich"), shutil.which("mpiexec.mpich")
    if compiler is None or launcher is None:
        print("skipped: there is no mpicc.mpich and mpiexec.mpich (Debian: libmpich-dev mpich)")
        return SKIPPED
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        run("cmake", "-S", str(source), "-B", folder, "-DSAGIPS_COMM_ONLY=ON", "-DSAGIPS_MPI=ON",
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DMPI_C_COMPILER={compiler}",
            f"-DMPIEXEC_EXECUTABLE={launcher}", "-DSAGIPS_BUILD_BENCHMARKS=OFF", "-DCMAKE_UNITY_BUILD=ON",
            *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in ("Libxsmm", "SimGrid")))
        run("cmake", "--build", folder, "--target", "comm_mpi_test", "-j", "2")
        program = next(pathlib.Path(folder).rglob("comm_mpi_test"))
        libraries = subprocess.run(["ldd", str(program)], check=True, text=True, stdout=subprocess.PIPE).stdout
        if "libmpich" not in libraries:
            print("the program was not linked with MPICH:", libraries, sep="\n")
            return 1
        for ranks in RANKS:
            run(launcher, "-n", str(ranks), str(program), "--gtest_brief=1")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
