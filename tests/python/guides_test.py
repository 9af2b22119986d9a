"""What the guides show in Python, run: every block that calls the package, those of a page one after the other.

    guides_test.py GUIDE_FOLDER [PAGE ...]
"""
import glob
import os
import re
import sys
import tempfile
import time
import unittest

FOLDER = os.path.abspath(sys.argv[1])
BLOCK = re.compile(r"(<!-- not run[^\n]*\n)?```python\n(.*?)```", re.DOTALL)


class Guides(unittest.TestCase):
    def test_every_block_runs(self):
        before = os.getcwd()
        names = {}
        for path in sorted(glob.glob(os.path.join(FOLDER, "*.md"))):
            with open(path) as file:
                blocks = [block for left_out, block in BLOCK.findall(file.read())
                          if not left_out and re.search(r"\bsagips\.", block)]
            page = os.path.basename(path)[:-len(".md")]
            if not blocks or len(sys.argv) > 2 and page not in sys.argv[2:]:
                continue
            began = time.monotonic()
            names[page] = {"__name__": "__main__"}
            with self.subTest(page), tempfile.TemporaryDirectory() as scratch:
                os.chdir(scratch)
                try:
                    for block in blocks:
                        exec(compile(block, page, "exec"), names[page])
                finally:
                    os.chdir(before)
            print(f"{page}: {len(blocks)} blocks in {time.monotonic() - began:.1f} s", flush=True)
        self.assertTrue(names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
