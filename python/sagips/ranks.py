"""Scripts on several ranks, `mpirun -n 4 python script.py`, and signals: whoever ends leaves nobody waiting."""
import contextlib
import signal
import sys
import threading

from . import _sagips

_begun = False


def begin():
    """From now on whatever ends the script on one rank with a failure ends all of them, and an exception does so once
    its traceback is printed."""
    global _begun
    if _begun:
        return
    _begun = True
    if _sagips.begin_ranks() == 1:
        return
    show = sys.excepthook

    def end_all(kind, error, trace):
        if _sagips.claim_failure():  # what others see of it tells nothing
            show(kind, error, trace)
            sys.stdout.flush()
            sys.stderr.flush()
        _sagips.abort_ranks(1)
    sys.excepthook = end_all


@contextlib.contextmanager
def stopping():
    """SIGTERM, as launchers and queues send it, ends a call as Ctrl-C does, once a state is written, and then the
    program."""
    asked = []

    def terminate(number, _):
        asked.append(number)
        if not callable(signal.getsignal(signal.SIGINT)):  # ignored, as of a script that a shell has put behind it
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)
    own = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if own:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt:
        if asked:
            raise SystemExit(128 + asked[0]) from None
        raise
    finally:
        if own:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
