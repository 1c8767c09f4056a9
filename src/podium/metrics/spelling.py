"""Spellings: the names that other tools give to measures, read as ours.

    >>> read_spelling("NDCG:top=10;type=Exp")
    Spelling(name='ndcg', cutoff=10, changes={'gain': 'exp2'})

trec_eval `ndcg_cut_10`, `P.5`, `recip_rank` · ranx `ndcg_burges@10`, `map@5-l2` · XGBoost `ndcg@10-`, `pre@10` ·
ir_measures `nDCG(dcg='exp-log2')@20`, `AP(rel=2)@100` · RankLib `RR@10` · CatBoost `PrecisionAt:top=5` · ours.
A spelling changes only what it states; what else the tool does differently is its preset's matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from podium.errors import ParameterError
from podium.registry import split_call


@dataclass(frozen=True)
class Spelling:
    """What a spelling says: the metric's name, its cut-off, and fields of the convention."""

    name: str
    cutoff: int | None = None
    changes: dict[str, Any] = field(default_factory=dict)


def read_spelling(text: str) -> Spelling:
    """Read a metric's name in any common spelling, upper or lower case; an unknown name is left as it is."""
    lower = text.strip().lower()
    if ":" in lower:
        return _catboost(lower, text)
    if "(" in lower:
        return _called(lower, text)
    return _plain(lower, text)


ALIASES: dict[str, str] = {
    **dict.fromkeys(("ndcg", "ndcg_cut", "ndcg_burges"), "ndcg"),
    **dict.fromkeys(("dcg", "dcg_burges"), "dcg"),
    **dict.fromkeys(("mean_ndcg", "meanndcg"), "mean-ndcg"),
    **dict.fromkeys(("map", "ap", "map_cut", "average_precision", "mean_average_precision"), "map"),
    **dict.fromkeys(("p", "pre", "prec", "precision", "precisionat"), "precision"),
    **dict.fromkeys(("r", "recall", "recallat"), "recall"),
    **dict.fromkeys(("mrr", "rr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"), "mrr"),
    **dict.fromkeys(("wta", "winner_takes_all", "winners_take_all"), "wta"),
    **dict.fromkeys(("err", "expected_reciprocal_rank"), "err"),
    **dict.fromkeys(("kendall", "kendall_tau", "kendalltau", "kendalls_tau", "tau", "tau_b"), "kendall"),
    **dict.fromkeys(("pair_accuracy", "pairaccuracy", "pairwise_accuracy"), "pair-accuracy"),
}
"""Every name in lower case, words joined by underscores → ours."""

_STATED: dict[str, dict[str, Any]] = {
    "map_cut": {"divisor": "relevant"},
    "ndcg_burges": {"gain": "exp2"},
    "dcg_burges": {"gain": "exp2"},
}
"""What a name itself says of the convention."""

_PLAIN = re.compile(r"(?P<name>[a-z][a-z_' -]*?)(?:[@._](?P<k>\d+))?(?P<suffix>-(?:l(?P<level>\d+))?)?")


def _plain(lower: str, text: str) -> Spelling:
    match = _PLAIN.fullmatch(lower)
    if match is None:
        return Spelling(lower)
    k = None if match["k"] is None else int(match["k"])
    if (match["name"], k) == ("success", 1):
        return Spelling("wta")
    changes: dict[str, Any] = {}
    if match["level"] is not None:
        changes = {"relevant": float(match["level"]), "floor": float(match["level"])}
    elif match["suffix"] is not None:
        changes = {"empty": "zero"}
    return _named(match["name"], text, k, changes)


def _called(lower: str, text: str) -> Spelling:
    head, _, tail = lower.rpartition(")")
    if not re.fullmatch(r"(@\d+)?", tail):
        raise ParameterError(f"Metric {text!r}: expected @k after the bracket, got {tail!r}.")
    name, arguments = split_call(head + ")")
    cutoff = int(tail[1:]) if tail else None
    changes: dict[str, Any] = {}
    for key, value in arguments.items():
        value = value.strip("'\"")
        if key == "rel":
            changes["relevant"] = _number(value, text)
        elif key == "dcg" and value in ("log2", "exp-log2"):
            changes["gain"] = "exp2" if value == "exp-log2" else "linear"
        elif key == "cutoff" and cutoff is None:
            cutoff = int(_number(value, text))
        else:
            raise ParameterError(f"Metric {text!r}: {key}={value} is not understood; known: rel, dcg, cutoff.")
    return _named(name, text, cutoff, changes)


def _catboost(lower: str, text: str) -> Spelling:
    name, _, tail = lower.partition(":")
    cutoff: int | None = None
    changes: dict[str, Any] = {}
    for part in filter(None, tail.split(";")):
        key, _, value = part.partition("=")
        if key == "top":
            cutoff = int(_number(value, text)) if value != "-1" else None
        elif key == "type" and value in ("exp", "base"):
            changes["gain"] = "exp2" if value == "exp" else "linear"
        elif key == "border":
            changes["relevant"] = float(np.nextafter(_number(value, text), np.inf))
        elif (key, value) != ("denominator", "logposition"):
            raise ParameterError(f"Metric {text!r}: {part!r} is not understood; known: top, type, border.")
    return _named(name, text, cutoff, changes)


def _named(name: str, text: str, cutoff: int | None, changes: dict[str, Any]) -> Spelling:
    word = re.sub(r"[ -]+", "_", name.strip().replace("'", ""))
    if word.endswith("_cut") and cutoff is None:
        raise ParameterError(f"Metric {text!r} needs its cut-off: {text}_10, or {ALIASES[word]}@10.")
    return Spelling(ALIASES.get(word, word.replace("_", "-")), cutoff, {**_STATED.get(word, {}), **changes})


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ParameterError(f"Metric {text!r}: expected a number, got {value!r}.") from None
