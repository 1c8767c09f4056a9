"""JSON process: a new Python interpreter that runs a module of podium and exchanges lines of JSON with its parent.

Nothing is forked and nothing is pickled. `Child` is the process as its parent sees it, `Parent` the parent as the
process sees it. The process ends with its standard input, or on Linux when its parent ends, even during work:
none is left over if the parent is killed.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any


class Child:
    """A process that runs `python -m module`, with the module path of this one."""

    def __init__(
        self,
        module: str,
        *,
        descriptors: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        quiet: bool = False,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            pass_fds=descriptors,
            env={
                **os.environ,
                **(environment or {}),
                "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path),
            },
            process_group=0,  # Ctrl-C goes to this process, which then ends the child
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests, self._answers = self.process.stdin, self.process.stdout

    def send(self, message: object) -> None:
        """Send a message; if the process is dead, `receive` says so."""
        with suppress(BrokenPipeError):
            self._requests.write(json.dumps(message).encode() + b"\n")
            self._requests.flush()

    def receive(self) -> Any | None:
        """The next answer; None if the process ended."""
        try:
            line = self._answers.readline()
            return json.loads(line) if line else None
        except ValueError:
            return None  # closed, or cut off in the middle of a line

    def exit(self) -> str:
        """How the process ended, as text: by an exit code or a signal."""
        code = self.process.wait()
        return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"

    def kill(self) -> None:
        """End the process, stuck or not."""
        self.process.kill()
        self.process.wait()
        for stream in (self._requests, self._answers):
            with suppress(BrokenPipeError):  # of a message that was never read
                stream.close()


class Parent:
    """The process that started this one. Output of libraries goes to standard error, not between the answers."""

    def __init__(self) -> None:
        _end_with_parent(int(sys.argv[1]))
        self._answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._answering = threading.Lock()
        self._requests: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> Any:
        """The next message."""
        return json.loads(self._requests.get())

    def send(self, **answer: object) -> None:
        """Send an answer, from any thread."""
        with self._answering:
            self._answers.write(json.dumps(answer).encode() + b"\n")
            self._answers.flush()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._requests.put(line)
        os._exit(0)


def _end_with_parent(parent: int) -> None:
    """Let Linux kill this process when its parent ends; the thread that reads standard input may wait for the GIL."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call
            os._exit(0)


_PR_SET_PDEATHSIG = 1
