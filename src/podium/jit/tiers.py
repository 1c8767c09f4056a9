"""Tiers: small work runs as plain Python and numpy, large work as machine code; its size alone decides.

Loading numba takes half a second and compiling the functions of a command several, so that a small file is read,
sorted and evaluated sooner without. A piece of work states its size in *steps*, passes of the innermost loop that plain
Python would make, when it begins:

    with tier(steps=30) as plain:
        …  # plain is True

Within, kernels that this thread calls are interpreted if the work is small, and pieces of it follow the decision. The
two tiers agree to the bit, or to 1e-12 where the compiler chooses the order of a sum. The clock never decides, so that
a command gives the same bits each time. A process that has done `BUDGET` steps of small work uses machine code from
then on, since more small work is likely to follow. PODIUM_COMPILE=always, and `compile_always`, compile for any size;
`podium serve` and training do so.
"""

from __future__ import annotations

import os
import reprlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from podium.base.errors import ParameterError
from podium.base.threads import is_busy, on_this_thread
from podium.jit.compiled import own

LIMIT = 100_000
"""The most steps of small work: about a fifth of a second."""
BUDGET = 10 * LIMIT
"""The steps of small work in a process after which everything is compiled."""

_CALL = 20  # steps that a piece of work takes in any case
CELLS_PER_STEP = 50
"""Cells of an array that numpy treats in the time of a step."""
FEW_CELLS = CELLS_PER_STEP * LIMIT
"""Size of arrays up to which numpy is used in any tier, where it gives the bits of machine code."""


def is_small(steps: int) -> bool:
    """Whether work of this size runs as plain Python; part of a larger piece of work follows its decision."""
    if own.decided or _always():
        return own.plain
    return _is_spent(steps)


def is_few(steps: int) -> bool:
    """Whether numpy does work of this size although machine code is in use; only if both give the same bits.

    For training that scores or measures a little now and then, but not if everything is compiled in any case, or work
    is repeated many times.
    """
    return own.plain or not (own.repeated or _always() or not _is_spent(steps))


def _is_spent(steps: int) -> bool:
    """Whether small work may take this many steps of the budget, which it then has spent."""
    if steps > LIMIT or is_busy():
        return False
    with _lock:
        if _counter.spent > BUDGET:
            return False
        _counter.spent += steps + _CALL
    return True


@contextmanager
def tier(steps: int) -> Iterator[bool]:
    """Decide for a piece of work and all its parts; tells whether it runs as plain Python."""
    if own.decided:
        yield own.plain
        return
    own.plain = is_small(steps)
    own.decided = True
    try:
        with on_this_thread() if own.plain else nullcontext():
            yield own.plain
    finally:
        own.decided = own.plain = False


@contextmanager
def machine_code(*, repeated: bool = False) -> Iterator[None]:
    """Use machine code for a piece of work and all its parts, e.g. for one that repeats small steps many times.

    `repeated`: so many that numpy does not pay either, where `is_few` would take it.
    """
    before = own.decided, own.plain, own.repeated
    own.decided, own.plain, own.repeated = True, False, own.repeated or repeated
    try:
        yield
    finally:
        own.decided, own.plain, own.repeated = before


def compile_always() -> None:
    """Use machine code in this process from now on."""
    _counter.always = True


def _always() -> bool:
    if _counter.always is None:
        text = os.environ.get("PODIUM_COMPILE", "auto")
        if text not in ("always", "auto"):
            raise ParameterError(f"PODIUM_COMPILE must be always or auto; got {reprlib.repr(text)}.")
        _counter.always = text == "always"
    return _counter.always


class _Counter:
    """Small work of this process so far, and whether everything is compiled; None if nobody asked yet."""

    spent = 0
    always: bool | None = None


_counter, _lock = _Counter(), threading.Lock()
