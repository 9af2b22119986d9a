"""`python -m sagips` is the program `sagips`, whose configs may name Python functions."""
import os
import signal
import sys


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as of a program, whose own handler comes when work begins
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    import sagips
    sys.exit(sagips.run(sys.argv[1:]))


if __name__ == "__main__":
    main()
