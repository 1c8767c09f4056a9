"""Processes that grow trees for a worker, by the name of their fit; the worker starts, asks and stops them."""

from __future__ import annotations

import socket
from typing import Any

from podium.base.errors import ClusterError, IncompatibleError
from podium.base.json_process import Child

_PROCESSES: dict[str, Child] = {}


def free_port() -> int:
    """Find a free port."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def start(fit: str, setting: dict[str, Any]) -> None:
    """Start the process of a fit, which joins LightGBM's network."""
    for other in list(_PROCESSES):
        stop(other)  # left by a client that has disconnected
    _PROCESSES[fit] = Child("podium.distributed.tree_worker", quiet=True)  # LightGBM prints each connection
    ask(fit, setting)


def ask(fit: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the process of a fit. Returns its answer."""
    process = _PROCESSES.get(fit)
    if process is None:
        raise ClusterError("the process that grew trees is gone.")
    process.send(request)
    answer: dict[str, Any] | None = process.receive()
    if answer is None:
        raise ClusterError(f"the process that grew trees {process.exit()}.")
    if "refused" in answer:
        raise IncompatibleError(answer["refused"])
    if "error" in answer:
        raise ClusterError(f"trees could not grow: {answer['error']}")
    return answer


def stop(fit: str) -> None:
    """End the process of a fit, stuck or not."""
    process = _PROCESSES.pop(fit, None)
    if process is not None:
        process.kill()
