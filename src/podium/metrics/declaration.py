"""Declarations of a metric's file besides its parameters: its names, its conventions, its kernel.

    >>> Names(stating("rr", "recip_rank")).spellings
    {'rr': {}, 'recip_rank': {}}

The defaults fit a plain metric, so that a file declares only what is special.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.base.custom_code import require_compiled

Stated = Mapping[str, Mapping[str, Any]]
"""By spelling or preset, the values that it sets: fields of the convention, parameters of the metric, cutoff."""
Words = Mapping[str, tuple[str, Callable[[Any], str]]]
"""By field, a phrase and a function that writes its values: `("hits are divided by", …)`."""


def stating(*names: str, **fields: Any) -> dict[str, Mapping[str, Any]]:
    """Spellings or presets that all set the same fields, by default none."""
    return dict.fromkeys(names, fields)


@dataclass(frozen=True)
class Names:
    """Names of a metric in podium and in other tools."""

    spellings: Stated = field(default_factory=dict)
    """Other names for it, in lower case with words joined by underscores, and the fields that each sets."""
    prints: str | None = None
    """Canonical name for printing, if it differs from the registered one."""
    number: str = "cutoff"
    """The field that a number at the end of a name sets, as in `P_10` or `iprec_at_recall_0.10`."""


@dataclass(frozen=True)
class Conventions:
    """Conventions that affect a metric, and how tools differ for it alone."""

    uses: tuple[str, ...] = ()
    """The fields of the convention that affect it, besides scores, empty if it can be, and ties if order matters."""
    divisors: tuple[str, ...] = ("cutoff",)
    """The values of `divisor` that make sense for it."""
    presets: Stated = field(default_factory=dict)
    """Fields that presets set for this metric alone. A cutoff holds if none is given; None: there is never one."""
    words: Words = field(default_factory=dict)
    """Phrases of `podium reconcile` for its own parameters and its `divisor`."""
    cuts: bool = True
    """Whether it can be cut off at k."""
    can_be_empty: bool = True
    """Whether it is undefined for some queries, such as those without relevant documents."""
    zero: float = 0.0
    """A query's value if the convention says that it counts 0."""
    one: float = 1.0
    """A query's value if the convention says that it counts 1."""


@dataclass(frozen=True)
class Kernel:
    """Compiled functions of a metric, and how they treat a list; see `podium.metrics.kernels`."""

    measure: Any
    """(labels, ends, ideal, config) → value of one query; None for metrics that read topics."""
    swaps: tuple[Any, Any] | None = None
    """(prepare, swap) for LambdaRank, or None."""
    order_matters: bool = True
    """Whether the value depends on the order of the list's documents, not only on which they are."""
    averages_ties: bool = True
    """Whether ties=mean is the mean over all orders of tied documents."""
    sees_unjudged: bool = False
    """Whether documents without judgment (label NaN) differ from those judged 0."""

    def __post_init__(self) -> None:
        for function in (self.measure, *(self.swaps or ())):
            if function is not None:
                require_compiled(function, "the kernel of a metric")
