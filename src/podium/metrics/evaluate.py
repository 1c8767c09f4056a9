"""Several metrics of the same rankings at once: each query is sorted once for all that treat ties alike.

>>> import numpy as np
>>> from podium.metrics import Metric
>>> metrics = [Metric.parse("ndcg@10"), Metric.parse("map")]
>>> evaluate_all(metrics, [0.9, 0.5, 0.1], [0, 1, 0], [0, 3])
array([[0.63092975],
       [0.5       ]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.compiled import compiled
from podium.errors import DataError
from podium.metrics import kernels
from podium.metrics.conventions import LARGEST_EXPONENT, Convention, write_convention
from podium.ranking import break_ties, order_all

if TYPE_CHECKING:
    from podium.metrics.base import Metric

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def evaluate_all(
    metrics: Sequence[Metric],
    scores: ArrayLike,
    labels: ArrayLike,
    offsets: ArrayLike,
    *,
    document_ids: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    judged_offsets: ArrayLike | None = None,
) -> Array:
    """The value of each metric for each query (M, Q), NaN where a query is skipped.

    `scores` and `labels` have one number per document; rows offsets[q]:offsets[q+1] are query q. `judged` are the
    labels of all judged documents of each query, also those not in the list, with offsets of their own; without them
    the list is all there is. `document_ids` are needed where ties are broken by them.
    """
    s, y = _numbers(scores, "scores"), _numbers(labels, "labels")
    cuts = _offsets(offsets, len(s), "offsets")
    if len(y) != len(s):
        raise DataError(f"{len(y)} labels for {len(s)} scores. Give one of each per document.")
    _check_finite(y, "label")
    everyone, everyone_cuts = _judged(judged, judged_offsets, len(cuts) - 1)
    values = np.empty((len(metrics), len(cuts) - 1))
    arranged: dict[tuple[str, str], tuple[Array, Places]] = {}
    ideals: dict[bool, tuple[Array, Array, Places]] = {}
    for m, metric in enumerate(metrics):
        how = metric.convention
        key = (how.scores, how.ties)
        if key not in arranged:
            arranged[key] = _arrange(s, y, cuts, how, document_ids)
        listed = everyone is None or how.ideal == "list"
        if listed not in ideals:
            ideals[listed] = _ideal(y, cuts) if everyone is None or listed else _ideal(everyone, everyone_cuts, also=y)
        given, ideal, ideal_cuts = ideals[listed]
        config = metric.config_array(given)
        kernels.sweep()(metric.measure, *arranged[key], cuts, ideal, ideal_cuts, config, values[m])
        _settle(values[m], metric, np.diff(cuts))
    return values


def config_array(metric: Metric, labels: Array) -> Array:
    """The numbers of a metric's convention as its kernels read them, for data with these labels."""
    how = metric.convention
    config = np.zeros(kernels.TABLE)
    config[kernels.CUTOFF] = kernels.NO_CUTOFF if metric.cutoff is None else metric.cutoff
    config[kernels.SHIFT] = how.discount == "letor"
    config[kernels.RELEVANT] = how.relevant
    config[kernels.DIVIDE_ALL] = how.divisor == "relevant"
    config[kernels.DIVIDE_LIST] = how.divisor == "list"
    config[kernels.FLOOR] = -np.inf if how.floor is None else how.floor
    config[kernels.GAIN] = kernels.EXP2 if how.gain == "exp2" else kernels.LINEAR
    if "floor" not in metric.uses:
        return config
    low, high, odd = _survey(labels)
    _check_gains(metric, low, high, odd)
    if "max_grade" in metric.uses:
        config[kernels.STOP] = 2.0 ** -(high if how.max_grade is None else how.max_grade)
    if isinstance(how.gain, tuple) or (low >= 0 and high < _TABLE_SIZE and odd == 0):
        config[kernels.GAIN] = kernels.FROM_TABLE
        return np.concatenate([config, _table(how, int(high) + 1)])
    return config


_TABLE_SIZE = 64


def _numbers(values: ArrayLike, what: str) -> Array:
    numbers = np.ascontiguousarray(values, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"The {what} must be a flat list of numbers; got an array of shape {numbers.shape}.")
    return numbers


def _offsets(values: ArrayLike, n: int, what: str) -> Places:
    cuts = np.ascontiguousarray(values, np.int64)
    if cuts.ndim != 1 or len(cuts) < 1 or cuts[0] != 0 or cuts[-1] != n or (np.diff(cuts) < 0).any():
        raise DataError(f"The {what} must rise from 0 to {n}, the number of documents; got {values!r}.")
    return cuts


def _check_finite(labels: Array, what: str) -> None:
    bad = ~np.isfinite(labels)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"The {what} of row {row} is {labels[row]}; expected a finite number, as for every document.")


def _judged(judged: ArrayLike | None, offsets: ArrayLike | None, n_queries: int) -> tuple[Array | None, Places]:
    if judged is None or offsets is None:
        if judged is not None or offsets is not None:
            raise DataError("Judged labels come with offsets of their own: give both judged and judged_offsets.")
        return None, np.zeros(1, np.int64)
    labels = _numbers(judged, "judged labels")
    cuts = _offsets(offsets, len(labels), "judged_offsets")
    if len(cuts) != n_queries + 1:
        raise DataError(f"judged_offsets are for {len(cuts) - 1} queries, offsets for {n_queries}.")
    _check_finite(labels, "judged label")
    return labels, cuts


def _arrange(
    scores: Array, labels: Array, cuts: Places, how: Convention, document_ids: ArrayLike | None
) -> tuple[Array, Places]:
    """The labels of each query in rank order, and where the tie group of each place ends."""
    with np.errstate(over="ignore"):
        compared = scores.astype(np.float32).astype(np.float64) if how.scores == "float32" else scores
    best_first, ends = order_all(compared, cuts)
    if how.ties == "mean":
        return labels[best_first], ends
    place = np.arange(len(scores)) - np.repeat(cuts[:-1], np.diff(cuts))
    if how.ties != "input":
        if how.ties == "docno":
            keys = _id_keys(document_ids, best_first, ends, place)
        else:
            keys = labels if how.ties == "best" else -labels
        best_first = break_ties(best_first, ends, offsets=cuts, keys=keys)
    return labels[best_first], place + 1


def _id_keys(document_ids: ArrayLike | None, best_first: Places, ends: Places, place: Places) -> Array:
    """Numbers in the order of the document ids as text; only tied documents need one."""
    if document_ids is None:
        raise DataError(
            "ties=docno orders documents of equal score by their ids, but there are none. "
            "Give document_ids, or choose ties=mean or ties=input."
        )
    ids = np.asarray(document_ids, dtype=object)
    if len(ids) != len(best_first):
        raise DataError(f"{len(ids)} document ids for {len(best_first)} scores. Give one of each per document.")
    joined = ends - place > 1  # with the next place
    joined[1:] |= joined[:-1] & (place[1:] > 0)
    tied = best_first[joined]
    keys = np.zeros(len(ids))
    keys[tied] = np.unique([str(name) for name in ids[tied]], return_inverse=True)[1]
    return keys


def _ideal(judged: Array, cuts: Places, *, also: Array | None = None) -> tuple[Array, Array, Places]:
    """All labels at hand, and each query's judged ones from the largest to the smallest with their offsets."""
    ideal = np.empty(len(judged))
    kernels.ideal_labels(judged, cuts, ideal)
    return judged if also is None else np.concatenate([judged, also]), ideal, cuts


def _settle(values: Array, metric: Metric, sizes: Places) -> None:
    """Give queries without a value of their own, and short lists, what the convention says."""
    empty = np.isnan(values)
    if metric.convention.short == "zero" and metric.cutoff is not None:
        values[sizes < metric.cutoff] = 0.0
    if metric.convention.empty != "skip":
        values[empty] = metric.convention.empty == "one"
    else:
        values[empty] = np.nan


@compiled
def _survey(labels: Array) -> tuple[float, float, float]:
    """The smallest label or 0, the largest or 0, and one that is not a whole number or 0."""
    low, high, odd = 0.0, 0.0, 0.0
    for label in labels:
        low, high = min(low, label), max(high, label)
        if label != np.floor(label):
            odd = label
    return low, high, odd


def _check_gains(metric: Metric, low: float, high: float, odd: float) -> None:
    how = metric.convention
    if low < 0 and how.floor is None:
        raise DataError(
            f"{metric}: a label is {low:g}, and a gain for labels below 0 is not defined. "
            f"Write {metric.name}[floor=0] to count them as 0, or shift the labels."
        )
    if isinstance(how.gain, tuple):
        if low < 0 or high >= len(how.gain) or odd != 0:
            wrong = low or odd or high
            raise DataError(
                f"{metric}: label {wrong:g} has no gain in the table {write_convention({'gain': how.gain})}, "
                f"which is for labels 0 to {len(how.gain) - 1}. Use another preset or gain, e.g. gain=exp2."
            )
    elif how.gain == "exp2" and high > LARGEST_EXPONENT:
        raise DataError(
            f"{metric}: a label is {high:g}, and the gain 2^label − 1 is meant for grades up to {LARGEST_EXPONENT}. "
            f"Use gain=linear, or smaller grades."
        )
    if how.max_grade is not None and high > how.max_grade:
        raise DataError(f"{metric}: a label is {high:g}, above max_grade={how.max_grade}. Raise max_grade.")


def _table(how: Convention, size: int) -> Array:
    grades = np.arange(size, dtype=np.float64)
    if isinstance(how.gain, tuple):
        gains = np.array(how.gain[:size])
    else:
        gains = grades if how.gain == "linear" else 2.0**grades - 1.0
    return np.where(grades < (-np.inf if how.floor is None else how.floor), 0.0, gains)
