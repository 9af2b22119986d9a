"""The checker of documentation commands runs what is marked `sh`, and only that."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_docs.py"


class CheckDocs(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, CHECKER, page], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_runs_blocks_in_one_scratch_copy_of_the_checkout(self):
        status, output = self.run_on("```sh\ntest -f Makefile\necho one > note\n```\ntext\n```sh\ngrep one note\n```\n")
        self.assertEqual(status, 0, output)
        self.assertIn("2 blocks of 1 pages run, 0 failed", output)

    def test_fails_on_an_unknown_command(self):
        status, output = self.run_on("```sh\nno-such-command --help\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("exit code 127", output)

    def test_fails_when_a_line_before_the_last_fails(self):
        status, output = self.run_on("```sh\nfalse\ntrue\n```\n")
        self.assertEqual(status, 1, output)

    def test_fails_on_a_long_line_of_prose(self):
        status, output = self.run_on("short\n" + 121 * "x" + "\n")
        self.assertEqual(status, 1)
        self.assertIn(":2: FAILED", output)
        status, output = self.run_on("| " + 121 * "x" + "\n```\n" + 121 * "x" + "\n```\n")
        self.assertEqual(status, 0, output)

    def test_leaves_other_languages_alone(self):
        status, output = self.run_on("```console\n$ false\n```\n```cpp\nint count;\n```\n```\nfalse\n```\n")
        self.assertEqual(status, 0, output)
        self.assertIn("0 blocks", output)

    def test_lists_a_block_that_says_why_it_is_not_run(self):
        status, output = self.run_on("<!-- not run: installs software -->\n\n```sh\nmake demo\n```\n")
        self.assertEqual(status, 0, output)
        self.assertIn("not run (installs software): make demo", output)

    def test_a_reason_serves_one_block(self):
        status, output = self.run_on("<!-- not run: slow -->\n```sh\nfalse\n```\n```sh\nfalse\n```\n")
        self.assertEqual(status, 1, output)

    def test_fails_on_a_make_target_that_does_not_exist(self):
        status, output = self.run_on("<!-- not run: slow -->\n```sh\nmake coffee\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("no target 'coffee'", output)

    def test_fails_on_a_program_that_is_no_example(self):
        status, output = self.run_on("```cpp\nint main() { return 7; }\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("no file of examples/", output)

    def test_fails_on_a_link_that_leads_nowhere(self):
        status, output = self.run_on("[here](page.md) [web](https://example.org) [there](none.md)\n")
        self.assertEqual(status, 1)
        self.assertIn("its link to none.md leads nowhere", output)
        self.assertNotIn("link to page.md", output)

    def test_the_readme_lists_every_guide_by_its_title(self):
        specification = importlib.util.spec_from_file_location("check_docs", CHECKER)
        checker = importlib.util.module_from_spec(specification)
        sys.modules["check_docs"] = checker  # its data classes look themselves up there
        specification.loader.exec_module(checker)
        with tempfile.TemporaryDirectory() as folder:
            checker.ROOT = pathlib.Path(folder)
            (checker.ROOT / "docs/guides").mkdir(parents=True)
            (checker.ROOT / "docs/guides/how.md").write_text("# How?\n\nSo.\n", encoding="utf-8")
            self.assertEqual(checker.unlisted_guides("- [How?](docs/guides/how.md)\n"), [])
            self.assertEqual(checker.unlisted_guides("- [Why?](docs/guides/how.md)\n"), ["how.md"])


if __name__ == "__main__":
    unittest.main()
