"""Contests: the same work by podium and by other tools, in turn, so that a busy machine is busy for all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Contestant = Callable[[], Any]
"""Does the work once. It may return {"cpu": seconds, …} if it measures itself, as a process of its own does."""


@dataclass
class Contest:
    """One row of the table."""

    what: str
    ours: Contestant
    peers: Mapping[str, Contestant | str]
    """A text in the place of a peer says why it is not there."""
    goal: str = ""
    least_ratio: float | None = None
    """How many times the CPU seconds of ours the best peer should take, at least."""
    most_seconds: float | None = None
    """How many CPU seconds ours may take, at most."""
    most_more: float | None = None
    """How many CPU seconds ours may take beyond the best peer's, at most."""
    clock: str = "cpu"
    """cpu, or wall where threads are the point."""
    repeats: int = 7
    warm_up: bool = True
    per_call: int = 1
    """Calls per repeat, where one is too short to time."""
    judged: Callable[[], bool] | None = None
    """Whether a goal that is not about time is met; asked for at the end."""
    note: Callable[[], str] | None = None
    """What else is to be said, such as how good the results are; asked for at the end."""


@dataclass
class Row:
    """What came of a contest."""

    what: str
    goal: str
    clock: str
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)  # by contestant: median, low, high, …
    absent: dict[str, str] = field(default_factory=dict)
    ratio: float | None = None  # the best peer's seconds / ours
    best_peer: str | None = None
    met: bool | None = None
    note: str = ""


OURS = "podium"


def run(contest: Contest, *, quick: bool) -> Row:
    """Time all contestants, one after another, several times."""
    row = Row(contest.what, contest.goal, contest.clock)
    runners: dict[str, Contestant] = {OURS: contest.ours}
    for name, peer in contest.peers.items():
        if isinstance(peer, str):
            row.absent[name] = peer
        else:
            runners[name] = peer
    if contest.warm_up:
        for runner in runners.values():
            runner()
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in runners}
    for _ in range(min(contest.repeats, 3) if quick else contest.repeats):
        for name, runner in runners.items():
            seen[name].append(timed(runner, contest.per_call))
    for name, times in seen.items():
        row.seconds[name] = _summary(times, contest.clock)
    _judge(row, contest)
    row.note = contest.note() if contest.note is not None else ""
    return row


def timed(runner: Contestant, calls: int = 1) -> dict[str, float]:
    """CPU and wall seconds of one call."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        told = runner()
    found = {"cpu": (time.process_time() - cpu) / calls, "wall": (time.perf_counter() - wall) / calls}
    return found | told if isinstance(told, dict) and "cpu" in told else found


def _summary(times: list[dict[str, float]], clock: str) -> dict[str, float]:
    """The median, and the range in which half of the repeats lie; other numbers by their median."""
    all_of = {key: [one[key] for one in times] for key, value in times[0].items() if not isinstance(value, str)}
    low, median, high = np.quantile(all_of[clock], [0.25, 0.5, 0.75])
    others = {key: float(np.median(values)) for key, values in all_of.items()}
    return {"median": float(median), "low": float(low), "high": float(high), **others}


def _judge(row: Row, contest: Contest) -> None:
    peers = {name: found["median"] for name, found in row.seconds.items() if name != OURS}
    ours = row.seconds[OURS]["median"]
    if peers:
        row.best_peer = min(peers, key=lambda name: peers[name])
        row.ratio = peers[row.best_peer] / ours
    if contest.least_ratio is not None:
        row.met = None if row.ratio is None else row.ratio >= contest.least_ratio
    if contest.most_seconds is not None:
        row.met = ours <= contest.most_seconds
    if contest.most_more is not None and row.best_peer is not None:
        row.met = ours <= peers[row.best_peer] + contest.most_more
    if contest.judged is not None:
        row.met = contest.judged()
