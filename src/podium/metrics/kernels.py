"""Shared parts of metric kernels: the layout of `config`, gain, discount, and the sweep over queries.

A metric is written for ONE query, as a kernel

    kernel(labels, ends, ideal, config) -> value

with `labels` in rank order; `ends[p]` is the end (exclusive) of the places of the documents tied with place p,
`ideal` are the judged labels from the largest to the smallest, and `config` holds the numbers of the convention and,
from `OWN` on, the metric's own parameters in the order of its fields. A kernel returns the expectation over all orders
of tied documents, and NaN if the metric is not defined. If a metric asks for it (`Kernel.sees_unjudged`), the label of
a document without judgment is NaN; a negative label means pooled but not judged.

For LambdaRank a metric also has the change when two documents swap places, without ties:

    prepare(labels, ideal, config, work)          fills the workspace, once per order
    swap(labels, config, work, i, j) -> |ΔM|      of the documents at places i < j, in constant time
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from podium.base.arrays import Array, Ints, Words
from podium.jit.compiled import address, compiled, function_at, outlined
from podium.jit.sorting import SORT_WORK, argsort_within, plain_order, sort_descending, sort_within, tie_ends
from podium.jit.tiers import CELLS_PER_STEP, is_few, tier
from podium.jit.views import view
from podium.metrics.gains import exp2_gain

MEASURE = "float64(float64[::1], int64[::1], float64[::1], float64[::1])"
"""The type of a metric's kernel: (labels, ends, ideal, config) → value."""
PREPARE = "void(float64[::1], float64[::1], float64[::1], float64[::1])"
"""The type of the function that prepares swaps: (labels, ideal, config, work)."""
SWAP = "float64(float64[::1], float64[::1], float64[::1], int64, int64)"
"""The type of a swap: (labels, config, work, i, j) → |ΔM|."""

CUTOFF, SHIFT, RELEVANT, DIVIDE_ALL, DIVIDE_LIST, FLOOR, GAIN, OWN = range(8)
"""Indices in `config`: the cut-off; the discount's shift; the least relevant label; whether AP divides by all relevant
documents, P by the list's length; the floor of labels; whether gains come from the table (0), are the label (1) or
2^label − 1 (2); the first of the metric's own parameters."""
STEPS = 5
"""Steps of small work (`podium.jit.tiers`) of a metric, per document."""
MOST_OWN = 4
"""The largest number of parameters a metric can have."""
TABLE = OWN + MOST_OWN
"""Index of the gain table in `config`."""
FROM_TABLE, LINEAR, EXP2 = 0.0, 1.0, 2.0
NO_CUTOFF = 2.0**53


_DISCOUNTS = 1.0 / np.log2(np.arange(2, 2002))  # 1/log2(r + 1) at place r − 1


@compiled
def discount(place: int, config: Array) -> float:
    """Discount of a place, from 0: 1/log2(r + 1) at rank r = place + 1, one rank later in the LETOR scripts."""
    if config[SHIFT] < 0.0:
        return _other_discount(place, -config[SHIFT])
    at = place if config[SHIFT] == 0.0 or place == 0 else place - 1
    return _DISCOUNTS[at] if at < len(_DISCOUNTS) else 1.0 / np.log2(at + 2.0)  # type: ignore[no-any-return]


@outlined("float64(int64, float64)")
def _other_discount(place: int, base: float) -> float:
    """1/r at rank r = place + 1 if b is 1, else 1 up to rank b and then 1/log_b(r); b is minus the shift."""
    if base == 1.0:
        return 1.0 / (place + 1.0)
    return math.log(base) / math.log(place + 1.0) if place + 1.0 > base else 1.0


@compiled
def log2_discount(rank: float) -> float:
    """Discount 1/log2(1 + r) of rank r ≥ 1, not necessarily whole, as in NDCG and the losses that optimise it."""
    return 1.0 / math.log2(1.0 + rank)


@compiled
def gain(label: float, config: Array) -> float:
    """Gain of a label."""
    if config[GAIN] == FROM_TABLE:
        return config[TABLE + int(label)]  # type: ignore[no-any-return]
    if label < config[FLOOR]:
        return 0.0
    return label if config[GAIN] == LINEAR else exp2_gain(label)


@compiled
def cut(n: int, config: Array) -> int:
    """The number of places that count in a list of n documents."""
    return n if n <= config[CUTOFF] else np.int64(config[CUTOFF])  # type: ignore[return-value]


@compiled
def count_relevant(ideal: Array, config: Array) -> int:
    """The number of relevant documents among the judged, whose labels descend."""
    count = 0
    while count < len(ideal) and ideal[count] >= config[RELEVANT]:
        count += 1
    return count


@compiled
def has_relevant(ideal: Array, config: Array) -> bool:
    """Whether there is a relevant document among the judged."""
    return len(ideal) > 0 and ideal[0] >= config[RELEVANT]


@compiled
def has_gain(ideal: Array, config: Array) -> bool:
    """Whether there is a document with a gain among the judged."""
    return len(ideal) > 0 and gain(ideal[0], config) > 0.0


@compiled
def relevant_within(labels: Array, start: int, end: int, config: Array) -> int:
    """The number of relevant documents at places start…end − 1."""
    count = 0
    for place in range(start, end):  # a slice would count references, which costs more than this loop
        count += labels[place] >= config[RELEVANT]
    return count


@compiled
def expected_hits(labels: Array, ends: Ints, last: int, config: Array) -> float:
    """The expected number of relevant documents at the first `last` places."""
    hits, start = 0.0, 0
    while start < last:
        end = ends[start]
        hits += relevant_within(labels, start, end, config) * ((min(end, last) - start) / (end - start))
        start = end
    return hits


@compiled
def first_relevant_group(labels: Array, ends: Ints, last: int, config: Array) -> tuple[int, int]:
    """The first tie group with relevant documents that starts before `last`: its start, and their number; 0 if none."""
    start = 0
    while start < last:
        relevant = relevant_within(labels, start, ends[start], config)
        if relevant > 0:
            return start, relevant
        start = ends[start]
    return start, 0


@compiled
def additive_swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔM| for M = Σ_p v_p w_p, a sum of document values times place weights.

    The workspace holds all v, then all w.
    """
    n = len(labels)
    return abs((work[i] - work[j]) * (work[n + i] - work[n + j]))  # type: ignore[no-any-return]


@compiled
def relevance(labels: Array, config: Array, work: Array) -> None:
    """Write 1 for each relevant document and 0 for the others to the head of the workspace."""
    for p in range(len(labels)):
        work[p] = 1.0 if labels[p] >= config[RELEVANT] else 0.0


@compiled
def ideal_labels(judged: Array, offsets: Ints, out: Array) -> None:
    """Fill `out` with each query's judged labels from the largest to the smallest."""
    for q in range(len(offsets) - 1):
        sort_descending(judged[offsets[q] : offsets[q + 1]], out[offsets[q] : offsets[q + 1]])


def sweep(
    measures: Sequence[Callable[..., float]], configs: Sequence[Array], *, scores: Array, rows: Ints, labels: Array,
    offsets: Ints, judged: Array, judged_offsets: Ints,
) -> Array:  # fmt: skip
    """The value of each metric for each query (M, Q), by blocks of queries so that documents stay in cache.

    `rows` are the documents of all queries in rank order, without ties; if it is empty, documents are sorted by score,
    and equal scores are tied.
    """
    values = np.empty((len(measures), len(offsets) - 1))
    bounds, config = np.cumsum([0, *map(len, configs)]), np.concatenate(configs)
    lists = scores, rows, labels, offsets, judged, judged_offsets
    with tier(STEPS * len(measures) * len(scores)) as plain:
        places = np.array([address(measure, MEASURE) for measure in measures], np.int64)
        few = len(scores) + len(judged)
        if plain or (few <= _FEW and is_few(few // CELLS_PER_STEP)):
            _measure(places, config, bounds, *_plain_lists(*lists), offsets, judged_offsets, 0, values)
            return values
        cuts = _cuts(offsets)
        room = _room(offsets, judged_offsets, cuts)
        for first, last in itertools.pairwise(cuts):
            own, ideal = offsets[first : last + 1], judged_offsets[first : last + 1]
            _sort_lists(scores, rows, labels, own, judged, ideal, *room)
            _measure(places, config, bounds, *room[:3], own, ideal, first, values)
    return values


_FEW = 1000  # labels, ranked and judged, up to which numpy sorts in any tier: compiling the sort takes over a second
_BLOCK = 1 << 14  # documents


def _plain_lists(
    scores: Array, rows: Ints, labels: Array, offsets: Ints, judged: Array, judged_offsets: Ints
) -> tuple[Array, Ints, Array]:
    """Labels in rank order, ends of tie groups and ideal labels of all queries by numpy's sort, for few documents."""
    if len(rows) == 0:
        rows, ends = plain_order(scores, offsets)
    else:
        ends = np.arange(1, len(rows) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    query = np.repeat(np.arange(len(judged_offsets) - 1), np.diff(judged_offsets))
    return labels[rows], ends, judged[np.lexsort((-judged, query))]


def _cuts(offsets: Ints) -> Ints:
    """First query of each block, and the number of queries: a block has few documents, or ends with a long query."""
    if offsets[-1] <= _BLOCK:
        return np.array([0, len(offsets) - 1])
    inner = np.searchsorted(offsets, np.arange(_BLOCK, offsets[-1], _BLOCK))
    return np.array([*dict.fromkeys([0, *inner.tolist(), len(offsets) - 1])])


def _room(offsets: Ints, judged_offsets: Ints, cuts: Ints) -> tuple[Array, Ints, Array, Ints, Words]:
    """Workspace for the largest block: labels in rank order, ends of ties, ideal labels; and for a sort."""
    n, m = (max(b - a for a, b in itertools.pairwise(bounds[cuts].tolist())) for bounds in (offsets, judged_offsets))
    most = max(n, m)
    return (
        np.empty(n), np.empty(n, np.int64), np.empty(m),
        np.empty(most + 8, np.int64), np.empty(SORT_WORK * (most + 1), np.uint64),
    )  # fmt: skip


_measure_at = function_at(MEASURE)


@compiled
def _measure(
    measures: Ints, configs: Array, bounds: Ints, ranked: Array, ends: Ints, ideal: Array,
    offsets: Ints, judged_offsets: Ints, first: int, out: Array,
) -> None:  # fmt: skip
    """Fill columns of `out`, from `first` on, with the metrics of the queries between these offsets."""
    for q in range(len(offsets) - 1):
        a, b = offsets[q] - offsets[0], offsets[q + 1] - offsets[0]
        c, d = judged_offsets[q] - judged_offsets[0], judged_offsets[q + 1] - judged_offsets[0]
        for k in range(len(measures)):
            kernel = _measure_at(measures[k])
            config = view(configs, bounds[k], bounds[k + 1])
            out[k, first + q] = kernel(view(ranked, a, b), view(ends, a, b), view(ideal, c, d), config)


@compiled
def _sort_lists(
    scores: Array, rows: Ints, labels: Array, offsets: Ints, judged: Array, judged_offsets: Ints,
    ranked: Array, ends: Ints, ideal: Array, places: Ints, work: Words,
) -> None:  # fmt: skip
    """Fill the lists of the queries between these offsets: see `_room`."""
    for q in range(len(offsets) - 1):
        start, n = offsets[q], offsets[q + 1] - offsets[q]
        at, best_first = start - offsets[0], view(places, 0, n)
        if len(rows) == 0:
            argsort_within(view(scores, start, start + n), best_first, work)
            tie_ends(view(scores, start, start + n), best_first, view(ends, at, at + n))
        for p in range(n):
            if len(rows) == 0:
                ranked[at + p] = labels[start + best_first[p]]
            else:
                ranked[at + p], ends[at + p] = labels[rows[start + p]], p + 1
        c, d, at = judged_offsets[q], judged_offsets[q + 1], judged_offsets[q] - judged_offsets[0]
        sort_within(view(judged, c, d), view(ideal, at, at + d - c), places, work)
