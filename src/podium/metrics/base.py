"""Metrics of ranking quality such as NDCG, query by query, with every convention explicit.

    >>> import numpy as np
    >>> ndcg = Metric.parse("NDCG@3")
    >>> ndcg, ndcg(np.array([3.0, 2.0, 1.0, 0.5]), np.array([0, 1, 0, 0]), np.array([0, 2, 4]))
    (ndcg@3, array([0.63092975,        nan]))

A metric is a frozen value: a name, its own parameters, a cut-off and a `Convention`. It prints as `ndcg@10`,
`rbp(p=0.9)@10`, as `ndcg@10[letor3]` if its convention is a preset's, else as `ndcg@10[gain=linear,ties=input]`, with
the fields that differ from the default. Its values are one number per query, NaN for a skipped query; `Metric.average`
reduces them to one number and counts the skipped.

Everything about a metric is in its file: its `kernel`, the `names` other tools have for it, and the `conventions` that
affect it, with the differences between tools for it alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError, UnknownNameError
from podium.base.registry import Named, field_types, read, write
from podium.data.triples import Triples
from podium.jit.tiers import tier
from podium.metrics import kernels
from podium.metrics.average import Average, mean
from podium.metrics.conventions import (
    DEFAULT,
    PRESETS,
    Convention,
    check_preset,
    discount_shift,
    read_convention,
    write_convention,
)
from podium.metrics.declaration import Conventions, Kernel, Names
from podium.metrics.gains import check_labels, gain_table, survey
from podium.metrics.lists import Lists, View
from podium.metrics.other_tools import instead
from podium.metrics.spelling import Spelling, nearest_names, read_argument, read_spelling, whole_number
from podium.metrics.topic_lists import TopicLists


@dataclass(frozen=True, repr=False)
class Metric(Named):
    """Metric of ranking quality, per query. Fields of a subclass are its own parameters."""

    kind: ClassVar[str] = "metric"
    home: ClassVar[str] = "podium.metrics"
    names: ClassVar[Names] = Names()
    conventions: ClassVar[Conventions] = Conventions()
    kernel: ClassVar[Kernel]
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Its smallest and its largest value for one query."""
    normalised: ClassVar[bool] = True
    """Whether the best order of a query has the value 1."""
    higher_is_better: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    """Whether a better document that changes places with a worse one above it never makes a list worse."""
    reads_topics: ClassVar[bool] = False
    """Whether it reads which documents are relevant to which topics of their query, and not the labels."""
    digits: ClassVar[int] = 4
    """The decimals to print it with."""

    cutoff: int | None = None  # Ranks that count, from the top: the k of ndcg@k; none for all.
    convention: Convention = DEFAULT  # Gain, discount, ties and all else that tools compute differently.

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None:
            if not self.conventions.cuts:
                raise ParameterError(f"{self.name} looks at the whole list: write {self.name}, not @{self.cutoff}.")
            if self.cutoff < 1 or self.cutoff % 1:
                raise ParameterError(f"{self.name}: the cut-off must be a whole number from 1; got {self.cutoff!r}.")
            if self.cutoff > 2**53:  # beyond it, kernels would count to another number
                raise ParameterError(f"{self.name}: the cut-off must be at most 2^53. Leave it out for whole lists.")
        divisors = self.conventions.divisors
        if self.convention.divisor not in divisors and "divisor" in self.conventions.uses:
            words = " or ".join(divisors)
            raise ParameterError(f"{self.name}: divisor must be {words}; got {self.convention.divisor!r}.")
        object.__setattr__(self, "convention", self._concerning(self.convention))

    def __repr__(self) -> str:
        return _text(self, self.convention.preset)

    @classmethod
    def parse(cls, text: str, *, preset: str | None = None) -> Self:
        """The metric that `text` names, in any common spelling; `preset` holds for fields that the text leaves open."""
        metric: Self = _parsed(cls, text, preset)  # type: ignore[arg-type]
        return metric

    @classmethod
    def own_parameters(cls) -> dict[str, Any]:
        """The metric's own parameters, with their declared types."""
        return {name: hint for name, hint in field_types(cls).items() if name not in ("cutoff", "convention")}

    def with_preset(self, preset: str, *, keep: Iterable[str] = ()) -> Self:
        """The same metric by the `preset` of a tool, e.g. letor3; its own parameters in `keep` stay as they are."""
        preset = check_preset(preset)
        stated = {**PRESETS[preset], **self.conventions.presets.get(preset, {})}
        cutoff = self.cutoff
        if "cutoff" in stated:
            fixed = stated.pop("cutoff")
            cutoff = None if fixed is None else cutoff or fixed
        own = {name: stated.pop(name) for name in self.own_parameters() if name in stated}
        own = {name: value for name, value in own.items() if name not in set(keep)}
        return dataclasses.replace(self, cutoff=cutoff, convention=Convention(**stated, preset=preset), **own)

    def tag(self) -> str:
        """The metric with its parameters and its convention in full, also if they are the default."""
        parts = []
        for name, value in self.convention.fields().items():
            if name in _ALWAYS & self._concerns() or value != getattr(DEFAULT, name):
                bare = name in ("gain", "discount") and isinstance(value, str)
                parts.append(value if bare else write_convention({name: value}))
        return self._head(None) + (f"[{','.join(parts)}]" if parts else "")

    def __call__(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        offsets: ArrayLike,
        *,
        document_ids: ArrayLike | None = None,
        judged: ArrayLike | None = None,
        judged_offsets: ArrayLike | None = None,
        unjudged: ArrayLike | None = None,
        topics: TopicLists | Triples | None = None,
    ) -> Array:
        """Its value for each query (Q,), NaN if the query is skipped; see `evaluate_all` for the arguments."""
        more = {"judged": judged, "judged_offsets": judged_offsets, "unjudged": unjudged, "topics": topics}
        values: Array = evaluate_all([self], scores, labels, offsets, document_ids=document_ids, **more)[0]  # type: ignore[arg-type]
        return values

    def over_topics(self, lists: Lists, topics: TopicLists | None) -> Array:
        """Its values (Q,) from `topics`, if it reads them: grades by topic of the documents in `lists`."""
        raise NotImplementedError

    def _settle(self, values: Array, lists: Lists) -> None:
        """Set `values` (Q,) of short queries, and of those with nothing to find, by the convention."""
        how, empty, zero = self.convention, np.isnan(values), self.conventions.zero
        if how.short == "zero" and self.cutoff is not None:
            values[np.diff(lists.offsets) < self.cutoff] = zero
        values[empty] = {"skip": np.nan, "zero": zero, "one": self.conventions.one}[how.empty]

    def average(self, values: ArrayLike) -> Average:
        """The `values` of queries (Q,) as one number: the mean without NaN, or the number that it reports instead."""
        average = mean(values)
        return average._replace(value=self.reported(average.value, average.queries))

    @classmethod
    def reported(cls, mean: float, queries: int) -> float:
        """The figure reported for so many `queries` with this `mean` value: the mean itself, unless overridden."""
        return mean

    def config_array(self, labels: ArrayLike) -> Array:
        """The numbers that its kernels read, for data with these `labels` (N,); refuses labels that have no gain."""
        return _config(self, *survey(np.ascontiguousarray(labels, np.float64))).copy()

    def _config(self, low: float, high: float, odd: float) -> Array:
        """The same, for labels from `low` to `high`; `odd` is any fractional one, or 0."""
        how, config = self.convention, np.zeros(kernels.TABLE)
        config[kernels.CUTOFF] = kernels.NO_CUTOFF if self.cutoff is None else self.cutoff
        config[kernels.SHIFT] = discount_shift(how.discount)
        config[kernels.RELEVANT] = how.relevant
        config[kernels.DIVIDE_ALL] = how.divisor == "relevant"
        config[kernels.DIVIDE_LIST] = how.divisor == "list"
        config[kernels.FLOOR] = -np.inf if how.floor is None else how.floor
        config[kernels.GAIN] = kernels.EXP2 if how.gain == "exp2" else kernels.LINEAR
        own = self.own_numbers(high)
        assert len(own) <= kernels.MOST_OWN, f"{self.name} has more parameters than kernels.MOST_OWN"
        config[kernels.OWN : kernels.OWN + len(own)] = own
        if "floor" not in self.conventions.uses:
            return config
        check_labels(str(self), how, low=low, high=high, odd=odd)
        table = gain_table(how, low, high, odd)
        if table is None:
            return config
        config[kernels.GAIN] = kernels.FROM_TABLE
        return np.concatenate([config, table])

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """Its own parameters, for labels up to `largest_label`: words by their index, None as NaN."""
        return tuple(_as_number(getattr(self, name), hint) for name, hint in self.own_parameters().items())

    def swap_functions(self) -> tuple[Any, Any]:
        """(prepare, swap), compiled; see `podium.metrics.kernels`."""
        if self.kernel.swaps is None:
            able = sorted(name for name, metric in Metric.catalogue().items() if metric.kernel.swaps is not None)
            why = "is not changed by swapping two documents: it ignores their order"
            if self.kernel.order_matters:
                why = "does not know in constant time what swapping two documents changes"
            raise IncompatibleError(f"{self.name} {why}. Use one of: {', '.join(able)}.")
        return self.kernel.swaps

    def check_reads_labels(self) -> None:
        """Raise a clear error if this metric reads topics, for methods that learn from labels."""
        if self.reads_topics:
            raise IncompatibleError(
                f"{self} reads topics, and this method learns from labels. Use e.g. ndcg@10 here; any method can be "
                f"tuned by {self}."
            )

    @property
    def order_matters(self) -> bool:
        """Whether it depends on the order of documents, as few metrics of whole lists do not."""
        return self.kernel.order_matters

    def check_tunes(self) -> None:
        """Raise a clear error if this metric cannot choose between models."""
        if not (self.order_matters and self.higher_is_better):
            why = "less of it is better" if self.order_matters else "it does not depend on the order of documents"
            raise IncompatibleError(f"{self} cannot tell which model ranks better: {why}. Use e.g. ndcg@10 or map.")

    def work_size(self, n: int) -> int:
        """The length of the workspace that `prepare` needs for `n` documents."""
        return 3 * n + 3

    def _head(self, stated: Mapping[str, Any] | None = MappingProxyType({})) -> str:
        """Name, own parameters, cut-off; without parameters that are the default or as `stated`."""
        shown = {}
        for field in dataclasses.fields(self):
            if field.name in self.own_parameters():
                value = getattr(self, field.name)
                if stated is None or value != stated.get(field.name, field.default):
                    shown[field.name] = write(value)
        arguments = f"({','.join(f'{name}={text}' for name, text in shown.items())})" if shown else ""
        return f"{self.names.prints or self.name}{arguments}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    def _concerns(self) -> set[str]:
        """The fields of the convention that affect it."""
        fields = {"scores", *self.conventions.uses} - (set() if self.cutoff else {"divisor", "short"})
        fields |= {"ties"} if self.kernel.order_matters else set()
        return fields | ({"empty"} if self.conventions.can_be_empty else set())

    def _concerning(self, convention: Convention) -> Convention:
        """The convention with every field that does not affect this metric at its default, so that equals are equal."""
        kept = self._concerns() | {"preset"}
        return Convention(**{name: value for name, value in vars(convention).items() if name in kept})

    @classmethod
    def _read(cls, spelled: Spelling, text: str) -> tuple[type[Self], dict[str, Any]]:
        """The metric of a spelling, and the fields that the spelling sets."""
        with contextlib.suppress(UnknownNameError):  # if so, all are loaded: it may be another spelling
            cls.find(spelled.name.replace("_", "-"))  # imports the file of that name alone if there is one
        names = cls._names()
        if spelled.name not in names:
            raise UnknownNameError(
                "metric", spelled.name, nearest_names(spelled.name, names), instead=instead(spelled.name)
            )
        kind, stated = names[spelled.name]
        fields = {**stated, **spelled.changes}
        for key, value in spelled.arguments.items():
            fields |= kind._argument(key, value, text)
        if spelled.number is not None:
            fields |= kind._numbered(spelled.number, text)
        if spelled.at is not None:
            if "cutoff" in stated:
                raise ParameterError(f"Metric {text!r}: the name itself means a cut-off of {stated['cutoff']}.")
            cutoff = {"cutoff": whole_number(spelled.at, text)} if kind.conventions.cuts else {}
            fields |= cutoff or kind._at(spelled.at, text)
        if spelled.name.endswith("_cut") and fields.get("cutoff") is None:
            printed = kind.names.prints or kind.name
            raise ParameterError(f"Metric {text!r} needs its cut-off: {text}_10, or {printed}@10.")
        return kind, fields

    @classmethod
    def _names(cls) -> dict[str, tuple[type[Self], Mapping[str, Any]]]:
        """Every name of every imported metric, with the fields that the name sets."""
        names: dict[str, tuple[type[Self], Mapping[str, Any]]] = {}
        for name, kind in sorted(cls._registered().items()):
            for spelling, stated in {name: {}, kind.names.prints or name: {}, **kind.names.spellings}.items():
                word = spelling.replace("-", "_")
                if names.get(word, (kind,))[0] is not kind:
                    raise ParameterError(f"Two metrics are called {word!r}: {names[word][0].name} and {name}.")
                names[word] = kind, stated
        return names

    @classmethod
    def _argument(cls, key: str, value: str, text: str) -> dict[str, Any]:
        """The field that `key=value` in a metric's brackets sets."""
        own = cls.own_parameters()
        if key in own:
            return {key: read(value.strip("'\""), own[key], f"{text}: {key}")}
        stated = read_argument(key, value, text)
        if stated is None or not set(stated) <= {"cutoff", *cls.conventions.uses, *own}:
            keys = [*own, *(word for word, field in _ARGUMENTS.items() if field in cls.conventions.uses), "cutoff"]
            raise ParameterError(f"Metric {text!r}: {key}={value} is not understood; known: {', '.join(keys)}.")
        return stated

    @classmethod
    def _at(cls, number: str, text: str) -> dict[str, Any]:
        """The field that a number after @ sets, of a metric that cannot be cut off."""
        return cls._numbered(number, text)

    @classmethod
    def _numbered(cls, number: str, text: str) -> dict[str, Any]:
        """The field that a number at the end of a name sets; `.95` is a fraction only if the parameter is one."""
        field = cls.names.number
        if field == "cutoff":
            return {"cutoff": whole_number(number.removeprefix("."), text)}
        bounds = next(parameter for parameter in dataclasses.fields(cls) if parameter.name == field).metadata
        fraction = min(bounds.get("most", np.inf), bounds.get("below", np.inf)) <= 1.0
        digits = number if fraction else number.removeprefix(".")
        return {field: read(digits, cls.own_parameters()[field], f"{text}: {field}")}


def evaluate_all(
    metrics: Sequence[Metric],
    scores: ArrayLike,
    labels: ArrayLike,
    offsets: ArrayLike,
    *,
    document_ids: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    judged_offsets: ArrayLike | None = None,
    unjudged: ArrayLike | None = None,
    topics: TopicLists | Triples | None = None,
) -> Array:
    """The value of each metric for each query (M, Q), NaN if a query is skipped; see `Lists` for the arguments.

    `topics` are the grades of documents for topics, for metrics that read them; as `Triples` if the documents of the
    lists are all judged ones. Each query is sorted once for all metrics that treat ties alike.
    """
    judgments = {"judged": judged, "judged_offsets": judged_offsets, "unjudged": unjudged}
    with tier(kernels.STEPS * len(metrics) * np.size(scores)):
        lists = Lists(scores, labels, offsets, document_ids=document_ids, **judgments)
        if isinstance(topics, Triples):
            topics = TopicLists.of(topics, lists.offsets, document_ids)  # type: ignore[arg-type]
        return _evaluate_lists(metrics, lists, topics)


def _evaluate_lists(metrics: Sequence[Metric], lists: Lists, topics: TopicLists | None) -> Array:
    alike: dict[View, list[int]] = {}
    values = np.empty((len(metrics), lists.n_queries))
    for m, metric in enumerate(metrics):
        if metric.reads_topics:
            values[m] = metric.over_topics(lists, topics)
        else:
            alike.setdefault(lists.view(metric.convention, mark_unjudged=metric.kernel.sees_unjudged), []).append(m)
    for view, rows in alike.items():
        configs = [_config(metrics[m], *lists.survey(from_list=view.from_list)) for m in rows]
        values[rows] = kernels.sweep([metrics[m].kernel.measure for m in rows], configs, **lists.arrays(view))
    for metric, row in zip(metrics, values, strict=True):
        metric._settle(row, lists)
    return values


@functools.lru_cache(1024)
def _text(metric: Metric, named: str | None) -> str:
    how = metric.convention  # equal for metrics of two presets that say the same
    changes = how.changes()
    if not changes:
        return metric._head()
    for preset in sorted(PRESETS, key=lambda name: name != named):
        same = metric.with_preset(preset)
        if (same.cutoff, same.convention) == (metric.cutoff, how):
            return f"{metric._head(metric.conventions.presets.get(preset, {}))}[{preset}]"
    return f"{metric._head()}[{write_convention(changes)}]"


@functools.lru_cache(1024)
def _parsed(cls: type[Any], text: str, preset: str | None) -> Any:
    head, bracket, tail = text.strip().partition("[")
    if bracket and not tail.endswith("]"):
        raise ParameterError(f"Metric {text!r}: the bracket after {head!r} is not closed.")
    kind, stated = cls._read(read_spelling(head), head.strip())
    named, changes = read_convention(tail[:-1].lower(), text) if bracket else (None, {})
    own = {name: value for name, value in stated.items() if name in kind.own_parameters()}
    metric = kind(stated.get("cutoff"), **own)
    if (named or preset) is not None:
        metric = metric.with_preset(str(named or preset), keep=own)
    spelled = {name: value for name, value in stated.items() if name not in own and name != "cutoff"}
    return dataclasses.replace(metric, convention=dataclasses.replace(metric.convention, **{**spelled, **changes}))


@functools.lru_cache(1024)
def _config(metric: Metric, low: float, high: float, odd: float) -> Array:
    return metric._config(low, high, odd)


_ALWAYS = {"gain", "discount", "relevant", "divisor", "ties", "empty"}
_ARGUMENTS = {"rel": "relevant", "dcg": "gain"}


def _as_number(value: Any, hint: Any) -> float:
    if typing.get_origin(hint) is typing.Literal:
        return float(typing.get_args(hint).index(value))
    return float("nan") if value is None else float(value)
