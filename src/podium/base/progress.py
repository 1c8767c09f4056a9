"""Progress of a long computation, as the share that is done; functions that report it take `progress`.

Observers get more: in training every `Step` with its objective and validation metric, for learning curves; in a
comparison the `TaskEvent`s of its tasks, which run in parallel and may fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Called with the share of the work that is done, from 0 to 1; with the name of its stage if there are several."""

    def __call__(self, share: float, stage: str = "", /) -> None: ...


def quiet(share: float, stage: str = "", /) -> None:
    """Report nothing."""


def tracked(items: Sequence[T], progress: Progress, stage: str = "") -> Iterator[T]:
    """Iterate over the items and report progress after each."""
    for n, item in enumerate(items, 1):
        yield item
        progress(n / len(items), stage)


def part_of(progress: Progress, k: int, n: int, stage: str = "") -> Progress:
    """Progress of part k, from 0, of the n equal parts of a stage."""

    def report(share: float, _: str = "", /) -> None:
        progress((k + share) / n, stage)

    return report
