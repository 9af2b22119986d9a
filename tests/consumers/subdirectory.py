"""Builds and runs a project that takes the checkout in by add_subdirectory."""
import argparse
import pathlib
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--checkout", required=True, type=pathlib.Path)
parser.add_argument("--build", required=True, type=pathlib.Path)
arguments = parser.parse_args()

with tempfile.TemporaryDirectory(prefix="sagips-consumer-") as folder:
    source = arguments.checkout / "tests/consumers/add_subdirectory"
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DSAGIPS_CHECKOUT={arguments.checkout}"], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    output = subprocess.run([f"{folder}/consumer"], check=True, capture_output=True, text=True).stdout
    print(output)
    assert "resolution 1.5" in output, output
