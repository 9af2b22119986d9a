"""The report of a run as a reader sees it: opened in a real browser, in light and dark, wide and on a phone.

usage: report_test.py SAGIPS
exit: 77 where there is no Chromium. SAGIPS_SCREENSHOTS=FOLDER keeps a picture of each page looked at.
"""
import glob
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SAGIPS = os.path.abspath(sys.argv[1])
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TINY = ["toy.events=2000", "train.epochs=8", "train.evaluate_every=2", "batch.samples=4", "batch.events=8",
        "evaluation.samples=50"]
SCHEMES = {"light": 1, "dark": 0}  # Blink's numbers

# Runs before everything else, so that no error escapes it.
LISTEN = """<script>
window.problems = [];
addEventListener("error", e => problems.push(String(e.message || e.target.outerHTML)), true);
addEventListener("securitypolicyviolation", e => problems.push(e.violatedDirective), true);
</script>"""

# Says what a reader would see. Contrast: WCAG 2.1, relative luminance.
LOOK = """<script>
addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const rgb = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = colour => {
    const [r, g, b] = rgb(colour).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = getComputedStyle(document.body).backgroundColor;
  const contrast = colour => {
    const [high, low] = [luminance(colour), luminance(page)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const lowest = numbers => Math.min(...numbers, 99);
  const figures = [...document.querySelectorAll("figure")].map(figure => {
    const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
    const curves = [...svg.querySelectorAll("path")].map(path => getComputedStyle(path))
      .filter(style => style.stroke.startsWith("rgb") && Number(style.strokeOpacity) == 1);
    return {
      id: figure.id, width: box.width, height: box.height, label: svg.getAttribute("aria-label"),
      texts: [...svg.querySelectorAll("text")].filter(text => text.textContent.trim()).length,
      paths: svg.querySelectorAll("path").length,
      text_contrast: lowest([...svg.querySelectorAll("text")].map(t => contrast(getComputedStyle(t).fill))),
      best_curve_contrast: Math.max(0, ...curves.map(style => contrast(style.stroke)))
    };
  });
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  parent.postMessage({
    problems, figures, width: innerWidth, page_width: document.documentElement.scrollWidth,
    background: luminance(page), requests: performance.getEntriesByType("resource").map(r => r.name),
    twice: ids.filter((id, i) => ids.indexOf(id) != i),
    dead: [...document.querySelectorAll("nav a")].map(a => a.getAttribute("href").slice(1))
      .filter(id => !document.getElementById(id)),
    text_contrast: lowest([...document.querySelectorAll("p, td, th, h1, h2, h3, a, figcaption, summary")]
      .filter(e => !e.matches(".plus, .minus")).map(e => contrast(getComputedStyle(e).color)))
  }, "*");
});
</script>"""

# What is wrong with a figure on paper: small, cut, or overlapping texts. Boxes of texts are higher than their letters.
MEASURE = """<script>
addEventListener("load", () => {
  const found = {};
  for (const svg of document.querySelectorAll("svg")) {
    const page = svg.getBoundingClientRect(), problems = [], texts = [];
    for (const text of svg.querySelectorAll("text")) {
      if (!text.textContent.trim()) continue;
      const box = text.getBoundingClientRect(), m = text.getScreenCTM(), name = text.textContent;
      const points = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b) * 0.75;
      const air = 0.25 * points / 0.75, turned = Math.abs(m.b) > Math.abs(m.a);
      const [dx, dy] = turned ? [air, 0] : [0, air];
      const ink = {l: box.left + dx, r: box.right - dx, t: box.top + dy, b: box.bottom - dy, name};
      if (points < 6.99) problems.push(`${name}: ${points} pt`);
      if (ink.l < page.left || ink.r > page.right || ink.t < page.top || ink.b > page.bottom)
        problems.push(`${name}: cut`);
      for (const o of texts)
        if (ink.l < o.r && o.l < ink.r && ink.t < o.b && o.t < ink.b) problems.push(`${name} over ${o.name}`);
      texts.push(ink);
    }
    found[svg.parentNode.id] = {texts: texts.length, centimetres: page.width / 96 * 2.54, problems};
  }
  document.documentElement.dataset.seen = encodeURIComponent(JSON.stringify(found));
});
</script>"""

# A window is never narrower than 500 pixels; a frame is.
FRAMES = """<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"></head><body><script>
const seen = {};
addEventListener("message", message => {
  seen[message.data.width] = message.data;
  document.documentElement.dataset.seen = encodeURIComponent(JSON.stringify(seen));
});
</script>%s</body></html>"""
WIDTHS = (1280, 360)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.sagips("train", "proxy1d", "run.name=a", *TINY)
        cls.sagips("solve", "resonance", "run.name=s", "toy.events=2000")

    @classmethod
    def sagips(cls, *arguments):
        done = subprocess.run([SAGIPS, *map(str, arguments)], cwd=cls.folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def measure(self, pictures):
        """What is wrong with each of these SVG files, by their paths."""
        page = self.folder / "measured.html"
        parts = []
        for path in pictures:
            text = path.read_text(encoding="utf-8")
            parts.append(f'<div id="{path}">{text[text.index("<svg"):]}</div>')
        page.write_text(f'<!DOCTYPE html><html><head><meta charset="utf-8">{MEASURE}</head><body>{"".join(parts)}'
                        '</body></html>', encoding="utf-8")
        with tempfile.TemporaryDirectory() as profile:
            command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                       "--no-first-run", "--virtual-time-budget=5000", f"--user-data-dir={profile}"]
            return self.seen_by([*command, "--window-size=1400,2000", "--dump-dom", page.as_uri()])

    def seen_by(self, command):
        dom = subprocess.run(command, timeout=100, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        seen = re.search(r'data-seen="([^"]*)"', dom)
        self.assertIsNotNone(seen, "the page's script did not come to its end")
        return json.loads(urllib.parse.unquote(html.unescape(seen.group(1))))

    def browse(self, page, scheme):
        """What the browser says of a page, by width."""
        text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + LISTEN, 1)
        copy = self.folder / "looked_at.html"
        copy.write_text(text.replace("</body>", LOOK + "</body>"), encoding="utf-8")
        frames = "".join(f'<iframe src="{copy.name}" width="{width}" height="900" style="border:0"></iframe>'
                         for width in WIDTHS)
        frame_page = self.folder / "frames.html"
        frame_page.write_text(FRAMES % frames, encoding="utf-8")
        with tempfile.TemporaryDirectory() as profile:
            command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                       "--no-first-run", "--virtual-time-budget=5000", f"--user-data-dir={profile}",
                       f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"]
            self.keep_pictures(page, scheme, command)
            return self.seen_by([*command, "--window-size=1400,2000", "--dump-dom", frame_page.as_uri()])

    def keep_pictures(self, page, scheme, command):
        folder = os.environ.get("SAGIPS_SCREENSHOTS")
        for width in WIDTHS if folder else ():
            name = f"{page.parent.name}_{page.stem}_{scheme}_{width}.png"
            subprocess.run([*command, "--hide-scrollbars", f"--window-size={width},6000",
                            f"--screenshot={os.path.join(folder, name)}", page.as_uri()], timeout=60,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def looks_well(self, page, figures):
        for scheme in SCHEMES:
            by_width = self.browse(page, scheme)
            self.assertEqual(set(by_width), {str(width) for width in WIDTHS})
            for width in WIDTHS:
                with self.subTest(page=page.name, scheme=scheme, width=width):
                    seen = by_width[str(width)]
                    self.assertEqual(seen["problems"], [])
                    self.assertEqual(seen["requests"], [])
                    self.assertEqual(seen["twice"], [], "an id stands for two things")
                    self.assertEqual(seen["dead"], [], "the contents lead nowhere")
                    self.assertLessEqual(seen["page_width"], width, "the page scrolls sideways")
                    self.assertEqual(seen["background"] < 0.5, scheme == "dark")
                    self.assertGreaterEqual(seen["text_contrast"], 4.5)
                    self.assertGreaterEqual(len(seen["figures"]), figures)
                    for figure in seen["figures"]:
                        self.assertGreater(figure["width"], 300, figure)
                        self.assertGreater(figure["height"], 150, figure)
                        self.assertGreater(figure["texts"], 4, figure)
                        self.assertGreater(figure["paths"], 4, figure)
                        self.assertGreaterEqual(figure["text_contrast"], 4.5, figure)
                        self.assertGreaterEqual(figure["best_curve_contrast"], 3, figure)
                        self.assertTrue(figure["label"], figure)

    def test_a_training_looks_well_in_a_browser(self):
        self.looks_well(self.folder / "runs/proxy1d/a/report.html", 7)

    def test_a_solution_looks_well_in_a_browser(self):
        self.looks_well(self.folder / "runs/resonance/s/report.html", 2)

    def test_runs_side_by_side_look_well_in_a_browser(self):
        self.sagips("train", "proxy1d", "run.name=b", "run.seed=2", *TINY)
        self.sagips("report", "runs/proxy1d/a", "runs/proxy1d/b", "--out", "both.html")
        self.looks_well(self.folder / "both.html", 15)

    def test_an_ensemble_looks_well_in_a_browser(self):
        self.sagips("ensemble", "proxy1d", "--members", "2", "run.name=e", *TINY)
        self.sagips("report", "runs/proxy1d/e")
        page = self.folder / "runs/proxy1d/e/report.html"
        self.looks_well(page, len(list(page.parent.glob("figures/*.svg"))))
        text = page.read_text(encoding="utf-8")
        self.assertIn("2 of 2 trainings done", text)
        self.assertEqual(text.count(">done<"), 2)

    def test_figures_of_a_papers_column_are_legible(self):
        self.sagips("train", "proxy1d", "run.name=p", "figures.width=column", "figures.font_size=7", *TINY)
        self.sagips("solve", "resonance", "run.name=p", "figures.width=column", "toy.events=2000")
        self.sagips("report", "runs/resonance/p", "--figures", "paper", "--out", "p.html")
        pictures = [path for pattern in ("runs/*/p/figures/*.svg", "paper/*.svg") for path in self.folder.glob(pattern)]
        names = {path.stem for path in pictures}
        self.assertLessEqual({"deviations", "error_ellipses", "generator_samples", "losses_over_time",
                              "correlations_1", "residuals_over_time"}, names)
        for path, seen in self.measure(pictures).items():
            with self.subTest(figure=path):
                self.assertEqual(seen["problems"], [])
                self.assertGreater(seen["texts"], 4)
                self.assertLess(seen["centimetres"], 8.61)

    def test_nothing_is_fetched_from_elsewhere(self):
        for path in glob.glob(f"{self.folder}/runs/*/*/report.html"):
            text = pathlib.Path(path).read_text(encoding="utf-8")
            self.assertEqual(re.findall(r"""(?:src|href)\s*=\s*["'](?!#)[^"']*""", text), [])
            self.assertNotIn("@import", text)
            self.assertNotIn("url(", text)
            self.assertNotIn("<script", text)


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: no Chromium on the PATH (apt-get install chromium)")
        sys.exit(77)
    if shutil.which("gnuplot") is None:
        print("skipped: no gnuplot on the PATH, so there are no figures")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
