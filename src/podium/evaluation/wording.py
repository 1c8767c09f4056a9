"""Sentences about the difference between two metric conventions.

>>> from podium.metrics import Metric
>>> a, b = Metric.parse("ndcg@10[lightgbm]"), Metric.parse("ndcg@10[trec]")
>>> describe(("empty",), a, b, ("lightgbm", "trec"))
'queries with nothing to find count 1 in lightgbm, 0 in trec'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from podium.base.registry import write
from podium.metrics import Metric


def describe(step: tuple[str, ...], a: Metric, b: Metric, names: tuple[str, str]) -> str:
    """Describe the fields of a step as each of the two sides has them."""
    return "; ".join(_sentence(name, a, b, names) for name in step)


def _sentence(name: str, a: Metric, b: Metric, names: tuple[str, str]) -> str:
    subject, word = {**WORDS, **a.conventions.words}.get(name, (f"{name} is", write))
    first, second = (word(_value(metric, name)) for metric in (a, b))
    verb, _, rest = second.partition(" ")
    if first.partition(" ")[0] == verb and verb in ("count", "are"):
        second = rest
    return f"{subject} {first} in {names[0]}, {second} in {names[1]}"


def _value(metric: Metric, name: str) -> Any:
    return getattr(metric.convention if name in metric.convention.fields() else metric, name)


def _gain(value: str | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return "the entry y of " + ",".join(f"{gain:g}" for gain in value)
    return "2^y − 1" if value == "exp2" else "y"


def _discount(value: str) -> str:
    words = {"log2": "1/log2(r + 1)", "letor": "1 up to rank 2 and then 1/log2(r)", "position": "1/r"}
    base = value.removeprefix("log(").removesuffix(")")
    return words.get(value) or f"1 up to rank {base} and then 1/log_{base}(r)"


def _threshold(value: float) -> str:
    """`from 1`, or `above 0.5` for the smallest number above it."""
    below = math.nextafter(value, -math.inf)
    return f"above {below:g}" if len(repr(value)) > 12 or value < 1e-300 else f"from {value:g}"


WORDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "gain": ("a label y is worth", _gain),
    "discount": (
        "rank r counts",
        _discount,
    ),
    "relevant": ("a document is relevant with a label", _threshold),
    "divisor": (
        "the sum is divided by",
        {"cutoff": "the cut-off", "relevant": "the relevant documents", "list": "the documents"}.__getitem__,
    ),
    "ties": (
        "documents of equal score",
        {
            "mean": "are averaged over all orders",
            "input": "are taken in the order of the data",
            "worst": "are taken from the smallest label",
            "best": "are taken from the largest label",
            "docno": "are taken by id, the last first",
        }.__getitem__,
    ),
    "order": ("documents are ordered by", {"scores": "their scores", "rank": "the run's ranks"}.__getitem__),
    "empty": (
        "queries with nothing to find",
        {"skip": "are left out", "zero": "count 0", "one": "count 1"}.__getitem__,
    ),
    "short": ("lists shorter than the cut-off", {"keep": "count in full", "zero": "count 0"}.__getitem__),
    "ideal": (
        "relevant documents missing from the list",
        {"judged": "count for the ideal", "list": "are ignored"}.__getitem__,
    ),
    "floor": ("labels worth nothing are", lambda value: "none" if value is None else f"those below {value:g}"),
    "scores": (
        "scores are compared in",
        {"float64": "double precision", "float32": "single precision"}.__getitem__,
    ),
    "cutoff": ("the list is cut", lambda value: "nowhere" if value is None else f"at {value}"),
}
"""Subject and words for the values of each field of the convention and of the cut-off. The words for the parameters of
a metric are in its class (`Conventions.words`)."""
