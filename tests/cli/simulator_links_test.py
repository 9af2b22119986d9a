"""The programs of the simulation load SimGrid's MPI and never the machine's own.

usage: simulator_links_test.py PROGRAM ...
"""
import subprocess
import sys

for program in sys.argv[1:]:
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libsimgrid" in libraries, libraries
    assert "libmpi" not in libraries, libraries
