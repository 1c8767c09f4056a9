"""The processes that grow trees beside a worker, by the name of their fit: what the worker does for the client."""

from __future__ import annotations

import socket
from typing import Any

from podium.base.errors import ClusterError, IncompatibleError
from podium.base.json_process import Child

_PROCESSES: dict[str, Child] = {}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def start(fit: str, setting: dict[str, Any]) -> None:
    """Start the process of a fit, which joins the others."""
    for other in list(_PROCESSES):
        stop(other)  # of a client that went away
    _PROCESSES[fit] = Child("podium.distributed.tree_worker", quiet=True)  # LightGBM prints each connection
    ask(fit, setting)


def ask(fit: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the process of a fit."""
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
