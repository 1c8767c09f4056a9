"""Parser of metric names as other tools write them: name, cut-off and parameters.

    >>> read_spelling("NDCG:top=10;type=Exp")
    Spelling(name='ndcg', at='10', number=None, arguments={}, changes={'gain': 'exp2'})

trec_eval `ndcg_cut_10`, `P.5`, `iprec_at_recall_0.10` · ranx `rbp.95`, `map@5-l2` · XGBoost `ndcg@10-` · ir_measures
`nDCG(dcg='exp-log2')@20`, `AP(rel=2)@100`, `RBP(p=0.8)@10` · RankLib `RR@10` · CatBoost `PrecisionAt:top=5` · ours.
The names of a metric are in its class. A spelling changes only the fields it states; other differences of a tool are
in its preset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from podium.base.errors import ParameterError
from podium.base.registry import Named, split_call


@dataclass(frozen=True)
class Spelling:
    """Parts of a metric's text: name, numbers, arguments, and fields of the convention."""

    name: str
    """In lower case, words joined by underscores."""
    at: str | None = None
    """The number after @."""
    number: str | None = None
    """The number at the end of the name, after _ or a dot; `rbp.95` keeps its dot."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The arguments in brackets after the name."""
    changes: dict[str, Any] = field(default_factory=dict)


def read_spelling(text: str) -> Spelling:
    """Split a metric's text, in upper or lower case, into its parts."""
    lower = text.strip().lower()
    if ":" in lower and "(" not in lower:
        return _catboost(lower, text)
    body, sign, at = lower.partition("@")
    changes: dict[str, Any] = {}
    if sign:
        match = _AT.fullmatch(at.strip())
        if match is None:
            raise ParameterError(
                f"Metric {text!r}: the cut-off after @ must be a whole number from 1, as in {body.strip()}@10; "
                f"got {at.strip()!r}."
            )
        at, changes = match["at"], _suffix(match)
    if "(" in body:
        name, arguments = _called(body, text)
        return Spelling(name, at or None, None, arguments, changes)
    match = _PLAIN.fullmatch(body.strip())
    if match is None:
        return Spelling(_joined(body), at or None, changes=changes)
    number = match["number"]
    if number is not None and match["sign"] == "." and "." not in number:
        number = "." + number
    return Spelling(_joined(match["name"]), at or None, number, changes={**changes, **_suffix(match)})


def read_argument(key: str, value: str, text: str) -> dict[str, Any] | None:
    """Field of the convention, or cut-off, that an argument of ir_measures sets; None if it is unknown."""
    value = value.strip("'\"")
    if key == "judged_only":
        raise ParameterError(
            f"Metric {text!r}: judged_only is about the run, not one metric. Evaluate with --judged-only "
            "(judged_only=True)."
        )
    if key == "rel":
        return {"relevant": _number(value, text)}
    if key == "dcg" and value in ("log2", "exp-log2"):
        return {"gain": "exp2" if value == "exp-log2" else "linear"}
    if key == "cutoff":
        return {"cutoff": int(_number(value, text))}
    if key == "max_rel":
        return {"max_grade": int(_number(value, text))}
    if (key, value) in (("min_rel", "0"), ("normalize", "true")):
        return {}
    return None


def nearest_names(name: str, names: Mapping[str, tuple[type[Named], Any]]) -> list[str]:
    """The nearest name of each metric, so that no suggestion repeats a metric."""
    best: dict[type[Named], tuple[float, str]] = {}
    for word, (kind, _) in names.items():
        matcher = SequenceMatcher(None, name, word)
        best.setdefault(kind, (0.6, kind.name))
        # the first is an upper bound by the lengths alone, so that a very long name takes no time
        if matcher.real_quick_ratio() > 0.6 and matcher.ratio() > 0.6:
            best[kind] = max(best[kind], (matcher.ratio(), word))
    return [word.replace("_", "-") if word.replace("_", "-") == kind.name else word for kind, (_, word) in best.items()]


_LEVEL = r"(?P<suffix>-(?:l(?P<level>\d+))?)?"
_AT = re.compile(r"(?P<at>\d+(?:\.\d+)?)" + _LEVEL)
_PLAIN = re.compile(r"(?P<name>.+?)(?:(?P<sign>[._])(?P<number>\d+(?:\.\d+)?))?" + _LEVEL)


def _suffix(match: re.Match[str]) -> dict[str, Any]:
    """XGBoost's - (queries without relevant documents count 0), ranx's -l2 (relevant from label 2)."""
    if match["level"] is not None:
        return {"relevant": float(match["level"]), "floor": float(match["level"])}
    return {} if match["suffix"] is None else {"empty": "zero"}


def _called(body: str, text: str) -> tuple[str, dict[str, str]]:
    tail = body.rpartition(")")[2].strip() if ")" in body else ""
    if tail:
        raise ParameterError(f"Metric {text!r}: expected @k after the bracket, got {tail!r}.")
    if "{" in body:
        raise ParameterError(f"Metric {text!r}: write gains as a table by grade, from 0: ndcg@10[gain=[0,1,3]].")
    name, arguments = split_call(body)
    if _joined(name) in ("numret", "num_ret") and "rel" in arguments:  # relevant ones, in ir_measures
        return "num_rel_ret", arguments
    return _joined(name), arguments


def _catboost(lower: str, text: str) -> Spelling:
    name, _, tail = lower.partition(":")
    cutoff: str | None = None
    changes: dict[str, Any] = {}
    arguments: dict[str, str] = {}
    for part in filter(None, tail.split(";")):
        key, _, value = part.partition("=")
        if key == "top":
            cutoff = str(int(_number(value, text))) if value != "-1" else None
        elif key == "type" and value in ("exp", "base"):
            changes["gain"] = "exp2" if value == "exp" else "linear"
        elif key == "border":
            changes["relevant"] = float(np.nextafter(_number(value, text), np.inf))
        elif key == "denominator" and value in ("logposition", "position"):
            changes |= {"discount": "position"} if value == "position" else {}
        elif key == "decay":
            arguments["decay"] = value
        else:
            known = "top, type, border, denominator, decay"
            raise ParameterError(f"Metric {text!r}: {part!r} is not understood; known: {known}.")
    return Spelling(_joined(name), cutoff, None, arguments, changes)


def _joined(name: str) -> str:
    return re.sub(r"[ -]+", "_", name.strip().replace("'", ""))


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ParameterError(f"Metric {text!r}: expected a number, got {value!r}.") from None


def whole_number(number: str, text: str) -> int:
    """The cut-off in a metric's name."""
    if not number.isdecimal():
        raise ParameterError(f"Metric {text!r}: the cut-off must be a whole number from 1; got {number!r}.")
    return int(number)
