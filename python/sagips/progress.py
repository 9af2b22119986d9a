"""How far a call is: one line that is drawn anew on a terminal or in a notebook, and nothing in a log."""
import sys


def _text(kind, facts):
    if kind == "training":
        whole = f" of {facts['epochs']}" if facts["epochs"] else ""
        losses = ", ".join(f"{name} {value:.4g}" for name, value in facts.items()
                           if name not in ("epoch", "epochs", "minutes", "time_s"))
        return f"epoch {facts['epoch']}{whole}, {facts['time_s']:.0f} s" + (f": {losses}" if losses else "")
    if kind == "solving":
        share = f", {100 * facts['calls'] // facts['expected']} %" if facts["expected"] else ""
        return f"{facts['phase']}: {facts['evaluations']} evaluations{share}"
    failed = f", {facts['failed']} failed" if facts["failed"] else ""
    return f"{facts['done']} of {facts['all']} done, {facts['running']} running{failed}"


class Progress:
    """Called with what happens; `close` takes the line away."""

    def __init__(self):
        self.handle = None
        self.width = 0
        self.terminal = sys.stderr.isatty()
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        self.notebook = hasattr(shell, "kernel")

    @property
    def looks(self):
        return self.terminal or self.notebook

    def __call__(self, kind, facts):
        line = _text(kind, facts)
        if self.notebook:
            from IPython.display import display
            if self.handle is None:
                self.handle = display(line, display_id=True)
            else:
                self.handle.update(line)
        else:
            sys.stderr.write("\r" + line.ljust(self.width))
            sys.stderr.flush()
            self.width = len(line)

    def close(self):
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
