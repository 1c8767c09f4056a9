"""Metrics: how good a ranking is, query by query, with every convention explicit.

    >>> import numpy as np
    >>> ndcg = Metric.parse("NDCG@3")
    >>> ndcg, ndcg(np.array([3.0, 2.0, 1.0, 0.5]), np.array([0, 1, 0, 0]), np.array([0, 2, 4]))
    (ndcg@3, array([0.63092975,        nan]))

A metric is a frozen value: a name, a cut-off and a `Convention`. It prints as `ndcg@10`, as `ndcg@10[letor3]` where its
convention is a preset's, else as `ndcg@10[gain=linear,ties=input]`, what differs from the default. Its values are one
number per query, NaN for a query that is skipped; `mean` averages them and counts those.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import IncompatibleError, ParameterError, UnknownNameError
from podium.metrics.conventions import (
    DEFAULT,
    PRESETS,
    Convention,
    check_preset,
    preset_convention,
    preset_cutoff,
    read_convention,
    write_convention,
)
from podium.metrics.evaluate import config_array, evaluate_all
from podium.metrics.spelling import read_spelling
from podium.registry import Named

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Metric(Named):
    """How good a ranking is, per query; larger is better."""

    kind: ClassVar[str] = "metric"
    home: ClassVar[str] = "podium.metrics"
    prints: ClassVar[str | None] = None
    """The word in its canonical spelling, where that is not its name."""
    uses: ClassVar[tuple[str, ...]] = ()
    """The fields of the convention that concern it, beside ties, empty and scores."""
    divisors: ClassVar[tuple[str, ...]] = ("cutoff",)
    """The values of `divisor` that make sense for it."""
    cuts: ClassVar[bool] = True
    """Whether it can be cut off at k."""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Its smallest and its largest value."""
    normalised: ClassVar[bool] = True
    """Whether the best order of a query has the value 1."""
    averages_ties: ClassVar[bool] = True
    """Whether ties=mean is the mean over all orders of tied documents."""
    higher_is_better: ClassVar[bool] = True
    measure: ClassVar[Any]
    """Its kernel, as a static method."""
    swaps: ClassVar[tuple[Any, Any] | None] = None
    """(prepare, swap) for LambdaRank, or None."""

    cutoff: int | None = None
    convention: Convention = DEFAULT

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None:
            if not self.cuts:
                raise ParameterError(f"{self.name} looks at the whole list: write {self.name}, not @{self.cutoff}.")
            if not isinstance(self.cutoff, int) or self.cutoff < 1:
                raise ParameterError(f"{self.name}: the cut-off must be a whole number from 1; got {self.cutoff!r}.")
        if self.convention.divisor not in self.divisors and "divisor" in self.uses:
            words = " or ".join(self.divisors)
            raise ParameterError(f"{self.name}: divisor must be {words}; got {self.convention.divisor!r}.")
        object.__setattr__(self, "convention", self._concerning(self.convention))

    def __repr__(self) -> str:
        changes = self.convention.changes()
        if not changes:
            return self._head()
        for preset in sorted(PRESETS, key=lambda name: name != self.convention.preset):
            same = self._concerning(preset_convention(preset, self.name)) == self.convention
            if same and preset_cutoff(preset, self.name, self.cutoff) == self.cutoff:
                return f"{self._head()}[{preset}]"
        return f"{self._head()}[{write_convention(changes)}]"

    @classmethod
    def parse(cls, text: str, *, preset: str | None = None) -> Self:
        """The metric that `text` names, in any common spelling; `preset` holds where the text says nothing else."""
        head, bracket, tail = text.strip().partition("[")
        if bracket and not tail.endswith("]"):
            raise ParameterError(f"Metric {text!r}: the bracket after {head!r} is not closed.")
        spelled = read_spelling(head)
        named, changes = read_convention(tail[:-1].lower(), text) if bracket else (None, {})
        known = cls.catalogue()
        if spelled.name not in known:
            raise UnknownNameError("metric", spelled.name, known)
        metric = known[spelled.name](spelled.cutoff)
        if (named or preset) is not None:
            metric = metric.with_preset(str(named or preset))
        changes = {**spelled.changes, **changes}
        return dataclasses.replace(metric, convention=dataclasses.replace(metric.convention, **changes))

    def with_preset(self, preset: str) -> Self:
        """The same measure as a tool computes it."""
        preset = check_preset(preset)
        cutoff = preset_cutoff(preset, self.name, self.cutoff)
        return dataclasses.replace(self, cutoff=cutoff, convention=preset_convention(preset, self.name))

    def tag(self) -> str:
        """The metric with its convention in full: what matters to it also where it is the default."""
        parts = []
        for name, value in self.convention.fields().items():
            if name in _ALWAYS & {"ties", "empty", *self.uses} or value != getattr(DEFAULT, name):
                bare = name in ("gain", "discount") and isinstance(value, str)
                parts.append(value if bare else write_convention({name: value}))
        return f"{self._head()}[{','.join(parts)}]"

    def __call__(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        offsets: ArrayLike,
        *,
        document_ids: ArrayLike | None = None,
        judged: ArrayLike | None = None,
        judged_offsets: ArrayLike | None = None,
    ) -> Array:
        """Its value for each query (Q,), NaN where the query is skipped; the arguments are `evaluate_all`'s."""
        known = {"document_ids": document_ids, "judged": judged, "judged_offsets": judged_offsets}
        values: Array = evaluate_all([self], scores, labels, offsets, **known)[0]
        return values

    def config_array(self, labels: ArrayLike) -> Array:
        """The numbers that its kernels read, for data with these labels; refuses labels that have no gain."""
        return config_array(self, np.asarray(labels, np.float64))

    def swap_functions(self) -> tuple[Any, Any]:
        """(prepare, swap), compiled; see `podium.metrics.kernels`."""
        if self.swaps is None:
            able = sorted(name for name, metric in Metric.catalogue().items() if metric.swaps is not None)
            raise IncompatibleError(
                f"{self.name} does not know in constant time what swapping two documents changes. Use one of: "
                f"{', '.join(able)}."
            )
        return self.swaps

    def work_size(self, n: int) -> int:
        """The numbers of workspace that `prepare` needs for n documents."""
        return 3 * n + 3

    def _head(self) -> str:
        return (self.prints or self.name) + ("" if self.cutoff is None else f"@{self.cutoff}")

    def _concerning(self, convention: Convention) -> Convention:
        """The convention with all that does not concern this metric at its default, so that equals are equal."""
        kept = {"ties", "empty", "scores", *self.uses} - (set() if self.cutoff else {"divisor", "short"}) | {"preset"}
        return Convention(**{name: value for name, value in vars(convention).items() if name in kept})


class Average(NamedTuple):
    """The mean of a metric over the queries that count."""

    value: float
    """NaN where no query counts."""
    queries: int
    skipped: int


def mean(values: ArrayLike) -> Average:
    """The mean over queries of a metric's values, those skipped left out and counted."""
    numbers = np.asarray(values, np.float64)
    counted = numbers[~np.isnan(numbers)]
    value = float(counted.mean()) if len(counted) else float("nan")
    return Average(value, len(counted), len(numbers) - len(counted))


_ALWAYS = {"gain", "discount", "relevant", "divisor", "ties", "empty", "max_grade"}
