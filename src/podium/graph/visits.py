"""Visits of users to web pages: the page, the time spent there, and the next page."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from podium.base.errors import DataError
from podium.base.files import Source
from podium.graph.links import lines_of_words


class Visit(NamedTuple):
    """A visit of a page, of some seconds. The visits of a session follow each other."""

    page: Hashable
    seconds: float
    next: Hashable | None = None
    """The page that was visited next; None at the end of a session."""


def read_visits(source: Source) -> Iterator[Visit]:
    """Read visits from a file of lines `page seconds [next page]`, separated by tabs or spaces, in order of time.

    A line without a next page ends a session. Blank lines and lines that begin with # are skipped.
    """
    for words, where in lines_of_words(source):
        if len(words) not in (2, 3) or not words[0]:
            raise DataError(f"expected: page seconds [next page]; got {len(words)} columns.", where=where)
        try:
            seconds = float(words[1])
        except ValueError:
            raise DataError(f"the stay must be a number of seconds; got {words[1]!r}.", where=where) from None
        yield check_visit(Visit(words[0], seconds, (words[2] or None) if len(words) == 3 else None), where)


def check_visit(visit: Visit, where: str | None = None) -> Visit:
    """Return the visit; raises a clear error if its stay is not a number of seconds above 0."""
    if not (visit.seconds > 0.0 and math.isfinite(visit.seconds)):
        raise DataError(
            f"the stay on page {visit.page!r} must be above 0 seconds; got {visit.seconds!r}. Leave the visit out, or "
            "give stays in fractions of a second.",
            where=where,
        )
    return visit
