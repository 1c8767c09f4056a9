"""`podium` as a program of its own, which Linux ends when the test that started it ends, even if that is killed."""

from __future__ import annotations

import sys

PODIUM = [
    sys.executable,
    "-c",
    "import ctypes, signal, sys\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"  # PR_SET_PDEATHSIG
    "from podium.cli.main import main\n"
    "main()",
]
"""The command; its words follow."""

LONG = "listnet(scorer=mlp(hidden=[64]),epochs=20000,patience=20000,penalty=0)"
"""A method that takes minutes on a small data set, but not for ever, in one fit: tasks of more fits come first."""
