"""The search for LibTorch takes what it may, in the order it promises, and says why it passes something over."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FINDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "find_torch.py"
FILES = ("include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so")


def make_torch(folder, version=(2, 11, 0), new_abi=True):
    """A folder that looks like a LibTorch."""
    for name in FILES:
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).touch()
    folder.joinpath("lib/libc10.so").write_bytes(b"NSt7__cxx1112basic_stringIcE" if new_abi else b"Ss")
    header = folder / "include/torch/headeronly/version.h"
    header.parent.mkdir(parents=True)
    header.write_text("".join(f"#define TORCH_VERSION_{part} {number}\n"
                              for part, number in zip(("MAJOR", "MINOR", "PATCH"), version)))
    return folder


class FindTorch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name).resolve()
        self.checkout = self.scratch / "checkout"
        self.site = self.scratch / "site"
        self.site.mkdir()

    def find(self, *arguments, named=""):
        """Runs the search with `site` as all that the active Python offers."""
        environment = {"PATH": f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin",
                       "PYTHONPATH": str(self.site), "SAGIPS_TORCH": named, "HOME": os.environ.get("HOME", "/")}
        return subprocess.run([sys.executable, FINDER, "--checkout", self.checkout, *arguments],
                              capture_output=True, text=True, env=environment, check=False)

    def make_active(self, **options):
        package = make_torch(self.site / "torch", **options)
        package.joinpath("__init__.py").write_text("raise RuntimeError('must not be imported')\n")
        return package

    def make_own(self):
        return make_torch(self.checkout / ".venv/lib/python3.11/site-packages/torch")

    def test_takes_the_named_folder_before_all_others(self):
        self.make_active()
        named = make_torch(self.scratch / "named")
        self.assertEqual(self.find(named=str(named)).stdout, f"{named};2.11.0;SAGIPS_TORCH\n")

    def test_refuses_a_named_folder_without_libraries(self):
        named = make_torch(self.scratch / "named")
        named.joinpath("lib/libtorch_cpu.so").unlink()
        done = self.find(named=str(named))
        self.assertEqual(done.returncode, 2)
        self.assertIn("it has no lib/libtorch_cpu.so", done.stderr)

    def test_takes_the_active_python_before_the_checkout_without_importing_it(self):
        package = self.make_active()
        self.make_own()
        self.assertEqual(self.find().stdout, f"{package};2.11.0;active Python\n")

    def test_passes_over_a_version_that_is_too_old(self):
        self.make_active(version=(1, 13, 0))
        own = self.make_own()
        done = self.find()
        self.assertEqual(done.stdout, f"{own};2.11.0;.venv\n")
        self.assertIn("version 1.13.0 is older than 2.4", done.stderr)

    def test_passes_over_the_old_string_abi(self):
        self.make_active(new_abi=False)
        self.make_own()
        self.assertIn("old C++ string ABI", self.find().stderr)

    def test_notes_a_version_that_is_not_the_tested_one(self):
        self.make_active(version=(2, 12, 1))
        done = self.find()
        self.assertEqual(done.returncode, 0)
        self.assertIn("LibTorch 2.12.1 (active Python) is used; SAGIPS is tested with 2.11", done.stderr)

    def test_own_leaves_the_checkout_out(self):
        self.make_own()
        self.assertEqual(self.find("--own").returncode, 1 if not self.site_has_torch() else 0)

    def site_has_torch(self):
        """Whether the Python that runs this test has a torch of its own, which the search would rightly find."""
        done = subprocess.run(["python3", "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))"],
                              cwd="/", check=False)
        return done.returncode == 0


if __name__ == "__main__":
    unittest.main()
