"""The processes that grow trees beside a worker, by the name of their fit: what the worker does for the client."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

from podium.errors import ClusterError, IncompatibleError

_PROCESSES: dict[str, subprocess.Popen[str]] = {}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def start(fit: str, setting: dict[str, Any]) -> None:
    """Start the process of a fit, which joins the others."""
    for other in list(_PROCESSES):
        stop(other)  # of a client that went away
    _PROCESSES[fit] = subprocess.Popen(
        [sys.executable, "-P", "-m", "podium.distributed.tree_worker", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # LightGBM tells each connection there
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path)},
    )
    ask(fit, setting)


def ask(fit: str, words: dict[str, Any]) -> dict[str, Any]:
    """What the process of a fit answers."""
    process = _PROCESSES.get(fit)
    if process is None or process.stdin is None or process.stdout is None:
        raise ClusterError("the process that grew trees is gone.")
    try:
        process.stdin.write(json.dumps(words) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        raise ClusterError(f"the process that grew trees ended with exit code {process.wait()}.")
    found: dict[str, Any] = json.loads(line)
    if "refused" in found:
        raise IncompatibleError(found["refused"])
    if "error" in found:
        raise ClusterError(f"trees could not grow: {found['error']}")
    return found


def stop(fit: str) -> None:
    """End the process of a fit, stuck or not."""
    process = _PROCESSES.pop(fit, None)
    if process is not None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
