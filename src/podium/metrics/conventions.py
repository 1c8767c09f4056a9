"""Conventions: everything that tools compute differently in a metric, and presets for the convention of each tool.

    >>> from podium.metrics import Metric
    >>> Metric.parse("ndcg@10[letor3]").convention.gain
    (0.0, 1.0, 3.0)

A preset gives each metric the convention of a tool, so that our number is the tool's number:

- `letor3`, `letor4`, `mslr`: the evaluation scripts of LETOR 3.0, LETOR 4.0 and MSLR-WEB.
- `trec`: trec_eval 9 and pytrec_eval, which compare scores in single precision (map@k is `map_cut_k`).
- `trec10`: trec_eval 10, which compares scores in double precision and rounds recall levels differently.
- `gdeval`: gdeval.pl.
- `ndeval`: ndeval, which orders a run by its ranks; with `order=scores` ndeval -traditional.
- `lightgbm`, `xgboost`, `catboost`, `ranklib`, `sklearn`, `ranx`: the defaults of these. XGBoost cuts at 32 if no k is
  given and RankLib at 10, but RankLib's MAP has no cut. RankLib's RR without a k is always 0 and not copied, nor is
  CatBoost's ERR, which takes labels as probabilities. XGBoost compares scores in single precision, as trec_eval 9
does.   ranx leaves the order of tied documents open; here it is input order.

`PRESETS` holds what is true of all metrics of a tool. Differences for one metric are in that metric's class
(`Conventions.presets`).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
import typing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import read, split_list, write

Gain = Literal["exp2", "linear"]

LARGEST_EXPONENT = 50
"""The largest label for which 2^y − 1 is computed; beyond, one document outweighs all others in double precision."""


@dataclass(frozen=True)
class Convention:
    """How a metric is computed. A metric ignores fields that do not affect it."""

    gain: Gain | tuple[float, ...] = "exp2"
    """The gain of a label y: 2^y − 1, y itself, or the entry y of a table."""
    discount: str = "log2"
    """Rank r counts 1/log2(r + 1); in the LETOR scripts 1 for r ≤ 2, then 1/log2(r); `position`: 1/r; `log(b)`: 1 for
    r ≤ b, then 1/log_b(r)."""
    relevant: float = 1.0
    """A document is relevant if its label is at least this."""
    divisor: Literal["cutoff", "relevant", "list"] = "cutoff"
    """P@k: k (cutoff), or min(k, n) (list). AP@k: min(k, relevant documents) (cutoff), or all of them (relevant)."""
    ties: Literal["mean", "input", "worst", "best", "docno"] = "mean"
    """Documents of equal score: the mean over all their orders, or one order: as given, the smallest label first,
    the largest first, the largest document id first."""
    order: Literal["scores", "rank"] = "scores"
    """Metrics of diversity: documents are ordered by their scores, or by the ranks in a run's file if it has them, all
    different in each query."""
    empty: Literal["skip", "zero", "one"] = "skip"
    """A query with nothing to find (usually: no relevant document): left out of the mean, or counted as 0 or 1."""
    short: Literal["keep", "zero"] = "keep"
    """A list of fewer than k documents: its value, or 0."""
    ideal: Literal["judged", "list"] = "judged"
    """Relevant documents missing from the list: count for the ideal, or are ignored."""
    floor: float | None = None
    """Labels below it are worth nothing; None: there is no floor, and negative labels are refused."""
    scores: Literal["float64", "float32"] = "float64"
    """The precision in which scores are compared."""
    preset: str | None = field(default=None, compare=False)
    """The preset it came from, for its name."""

    def __post_init__(self) -> None:
        for name, words in _choices().items():
            value = getattr(self, name)
            if name == "gain" and isinstance(value, tuple):
                _check_table(value)
            elif name == "discount" and value not in words:
                discount_shift(value)
            elif value not in words:
                raise ParameterError(f"metric: {name} must be one of {', '.join(words)}; got {value!r}.")
        for name in ("relevant", "floor"):
            if not math.isfinite(value := getattr(self, name) or 0.0):
                raise ParameterError(f"metric: {name} must be a finite number; got {value}.")

    def fields(self) -> dict[str, Any]:
        """The value of each field, without the preset."""
        return {name: value for name, value in vars(self).items() if name != "preset"}

    def changes(self) -> dict[str, Any]:
        """The fields that differ from the default."""
        return {name: value for name, value in self.fields().items() if value != getattr(DEFAULT, name)}


def read_convention(text: str, whole: str) -> tuple[str | None, dict[str, Any]]:
    """The preset and the fields in the text between a metric's square brackets."""
    preset, changes = None, {}
    hints = _hints()
    for part in split_list(text, whole):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and key in typing.get_args(Gain):
            changes["gain"] = key
        elif not equals and (key in _DISCOUNTS or _BASE.fullmatch(key)):
            changes["discount"] = key
        elif not equals:
            preset = check_preset(key)
        elif key not in hints:
            raise UnknownNameError(f"convention of {whole!r} called", key, hints)
        elif key == "gain":
            changes[key] = read(value, tuple[float, ...], f"{whole}: {key}") if value[:1] == "[" else value
        else:
            changes[key] = read(value, hints[key], f"{whole}: {key}")
    return preset, changes


def write_convention(fields: dict[str, Any]) -> str:
    """The fields as text; `read_convention` gives them back."""
    return ",".join(f"{name}={_plain(value)}" for name, value in fields.items())


def check_preset(name: str) -> str:
    """The name itself, in lower case, if there is such a preset."""
    if name.lower() not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return name.lower()


def discount_shift(discount: str) -> float:
    """The number by which kernels know a discount: 0 log2, 1 letor, −1 position, −b log(b)."""
    if discount in _DISCOUNTS:
        return _DISCOUNTS[discount]
    match = _BASE.fullmatch(discount)
    base = float(match["base"]) if match else math.nan
    if not (base > 1.0 and math.isfinite(base)):
        words = ", ".join(_DISCOUNTS)
        raise ParameterError(f"metric: discount must be one of {words}, or log(b) with b > 1; got {discount!r}.")
    return -base


_DISCOUNTS = {"log2": 0.0, "letor": 1.0, "position": -1.0}
_BASE = re.compile(r"log\((?P<base>[0-9.e+]+)\)")
_LETOR = {"gain": (0.0, 1.0, 3.0), "discount": "letor", "ties": "input", "empty": "zero", "ideal": "list"}
_ABOVE_HALF = float(np.nextafter(0.5, 1.0))
_ABOVE_ZERO = float(np.nextafter(0.0, 1.0))
_TREC = {"gain": "linear", "ties": "docno", "empty": "zero", "floor": 0.0}

PRESETS: dict[str, dict[str, Any]] = {
    "letor3": _LETOR,
    "letor4": _LETOR,
    "mslr": {**_LETOR, "gain": (0.0, 1.0, 3.0, 7.0, 15.0), "relevant": 2.0},
    "trec": {**_TREC, "scores": "float32"},
    "trec10": _TREC,
    "gdeval": {"ties": "docno", "floor": 0.0},
    "ndeval": {"order": "rank", "ties": "docno", "empty": "zero", "floor": 0.0},
    "lightgbm": {"ties": "input", "empty": "one", "ideal": "list", "relevant": _ABOVE_HALF},
    "xgboost": {"ties": "input", "empty": "one", "ideal": "list", "scores": "float32"},
    "catboost": {"gain": "linear", "ties": "worst", "empty": "zero", "ideal": "list", "relevant": _ABOVE_HALF},
    "ranklib": {"ties": "input", "empty": "zero", "relevant": _ABOVE_ZERO},
    "sklearn": {"gain": "linear", "empty": "zero", "ideal": "list"},
    "ranx": {"ties": "input", "empty": "zero", "gain": "linear", "floor": 1.0},
}
"""The convention of each tool in all of its metrics."""


@functools.cache
def _hints() -> dict[str, Any]:
    hints = typing.get_type_hints(Convention)
    return {name: hint for name, hint in hints.items() if name != "preset"}


@functools.cache
def _choices() -> dict[str, list[str]]:
    """The words allowed for each field that is a word."""
    words = [entry.name for entry in dataclasses.fields(Convention) if isinstance(entry.default, str)]
    return {name: _words(typing.get_args(_hints()[name])) for name in words}


def _words(options: tuple[Any, ...]) -> list[str]:
    flat = [word for option in options for word in (typing.get_args(option) or (option,))]
    return [word for word in flat if isinstance(word, str)]


def _check_table(table: tuple[float, ...]) -> None:
    if not table or not np.isfinite(table).all() or table[0] < 0 or any(a > b for a, b in itertools.pairwise(table)):
        raise ParameterError(
            f"metric: a gain table must rise from at least 0, one entry per label from 0; got {write(table)}."
        )


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(map(_plain, value)) + "]"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else write(value)


DEFAULT = Convention()
