"""Installs to a scratch folder and uses the copy while the checkout and the build folder cannot be seen.

Two proofs: no installed file holds the path of the checkout or of the build folder (where LibTorch is the checkout's
own), and, where the system lets an account make a mount namespace, program and package work with both folders hidden
behind empty ones. Without that right the second proof runs with both in place and says so.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

EXAMPLE = "examples/own_pipeline"
TINY = "train.epochs=2 batch.samples=4 batch.events=10 toy.events=2000"


def hidden(folders, script):
    """The command that runs a shell script with the folders hidden; None when this system forbids that."""
    namespace = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*namespace, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
                      check=False).returncode != 0:
        return None
    # the inner folder first: once the outer one is hidden, it is not there any more
    inner_first = sorted(folders, key=lambda folder: len(folder.parts), reverse=True)
    masks = "".join(f"mount -t tmpfs none {shlex.quote(str(folder))}\n" for folder in inner_first)
    return [*namespace, "bash", "-euc", masks + script]


def files_that_name(prefix, folders):
    """Installed files that hold the path of one of the folders."""
    needles = [os.fsencode(str(folder)) for folder in folders]
    return [path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink()
            and any(needle in path.read_bytes() for needle in needles)]


def copies_torch(build):
    cache = (build / "cmake_install.cmake").read_text()
    return "InstallTorch.cmake" in cache


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    folders = [arguments.checkout, arguments.build]

    with tempfile.TemporaryDirectory(prefix="sagips-installed-") as scratch:
        prefix, work = pathlib.Path(scratch, "prefix"), pathlib.Path(scratch, "work")
        work.mkdir()
        subprocess.run(["cmake", "--install", arguments.build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        telling = files_that_name(prefix, folders) if copies_torch(arguments.build) else []
        assert not telling, f"these installed files name the checkout: {telling}"

        # A user's own program goes along: the checkout's copy will be hidden.
        shutil.copytree(arguments.checkout / EXAMPLE, work / "example")
        # So do the skeletons of `sagips new`; what the Python one would write needs PyTorch, so it is made here.
        subprocess.run([arguments.build / "tests/cli/make_scripts"], cwd=work, check=True)
        script = f"""
            export PATH={prefix}/bin:$PATH
            cd {work}
            sagips --version
            test -s {prefix}/share/sagips/platforms/fat_tree.yaml
            sagips train proxy1d {TINY}
            cmake -S example -B build -G Ninja -DCMAKE_PREFIX_PATH={prefix} -DCMAKE_BUILD_TYPE=Release
            cmake --build build
            build/decay check decay
            build/decay train decay {TINY}
            export CMAKE_PREFIX_PATH={prefix} CMAKE_GENERATOR=Ninja
            sagips new stage a_script
            cp my_stage.pt a_script/a_script.pt
            a_script/test.sh
            sagips new stage a_plugin language=cpp
            a_plugin/test.sh
            sagips new workload a_program
            a_program/test.sh
            if /usr/bin/python3 -c 'import numpy'; then
              sagips new stage a_process language=process
              sed -i s:python3:/usr/bin/python3: a_process/a_process.yaml
              a_process/test.sh
            fi
        """
        command = hidden(folders, script)
        if command is None:
            print("note: no right to make a mount namespace; the checkout stays visible while the copy is used")
            command = ["bash", "-euc", script]
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        done = subprocess.run(command, cwd="/", env=environment, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout)
        assert done.returncode == 0, f"exit code {done.returncode}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
