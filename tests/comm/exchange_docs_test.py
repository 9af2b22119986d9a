"""The tables and the picture of docs/exchanges.md are what the exchanges themselves say.

usage: exchange_docs_test.py EXCHANGE_TABLE EXCHANGE_MESSAGES [--write]
--write puts them right; look at docs/figures/exchanges.svg afterwards.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "exchanges.md"
PICTURE = ROOT / "docs" / "figures" / "exchanges.svg"
TABLES = ("names", "costs")
WRITE = "--write" in sys.argv
PROGRAMS = [argument for argument in sys.argv[1:] if argument != "--write"]
RENEW = f"Renew it: python3 {' '.join(sys.argv[:3])} --write"


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


def generated_part(table):
    """Finds what stands between the markers of a table."""
    return re.compile(rf"(<!-- made by exchange_table {table}[^\n]*-->\n)(.*?)(<!-- end of {table} -->)", re.DOTALL)


def table_of(name):
    return output_of(PROGRAMS[0], name, str(ROOT))


def picture():
    with tempfile.TemporaryDirectory() as folder:
        messages, drawing = pathlib.Path(folder, "messages.csv"), pathlib.Path(folder, "drawing.svg")
        messages.write_text(output_of(PROGRAMS[1]), encoding="utf-8")
        output_of(sys.executable, str(ROOT / "tools" / "draw_exchanges.py"), str(messages), str(drawing))
        return drawing.read_text(encoding="utf-8")


def write():
    page = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        table = table_of(name)
        page = generated_part(name).sub(lambda found: found.group(1) + table + found.group(3), page)
    PAGE.write_text(page, encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")


class ExchangeDocs(unittest.TestCase):
    maxDiff = None

    def test_tables_are_what_the_program_prints(self):
        page = PAGE.read_text(encoding="utf-8")
        for name in TABLES:
            with self.subTest(table=name):
                found = generated_part(name).search(page)
                self.assertIsNotNone(found, f"{PAGE} has no markers of the table '{name}'")
                self.assertEqual(found.group(2), table_of(name), RENEW)

    def test_picture_is_drawn_from_recorded_messages(self):
        drawn = picture()
        self.assertTrue(drawn == PICTURE.read_text(encoding="utf-8"), f"{PICTURE} shows something else. {RENEW}")

    def test_every_setting_that_the_page_names_exists(self):
        """Keys such as `exchanges.grouped.rule`, and rules such as `outer_only`, stand in a source."""
        sources = "".join(path.read_text(encoding="utf-8") for folder in ("comm", "train", "optim", "cli")
                          for path in (ROOT / "sagips" / folder).rglob("*.cpp"))
        keys = re.findall(r"`((?:exchanges|ranks|optimizer|batch|discriminator|generator)\.[\w.]+)",
                          PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(keys), 5)
        for key in keys:
            for word in key.split(".")[1:]:
                self.assertIn(f'"{word}"', sources, f"{key} is no setting")


if __name__ == "__main__":
    if len(PROGRAMS) != 2:
        sys.exit(__doc__)
    if WRITE:
        write()
    unittest.main(argv=sys.argv[:1])
