"""Names of metrics in tables: short ones, and those that papers print.

>>> from podium.metrics import Metric
>>> paper_names([Metric.parse("ndcg@10[letor3]"), Metric.parse("map"), Metric.parse("p@5")])
['NDCG@10', 'MAP', 'P@5']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.metrics import Metric


def short_names(metrics: Sequence[Metric]) -> list[str]:
    """The metrics without their conventions, if the short names are unique."""
    short = [str(metric).partition("[")[0] for metric in metrics]
    return short if len(set(short)) == len(short) else list(map(str, metrics))


def paper_names(metrics: Sequence[Metric]) -> list[str]:
    """The metrics as papers print them; with their conventions if they could not be told apart otherwise."""
    return [_paper_name(name) for name in short_names(metrics)]


def _paper_name(name: str) -> str:
    word = name.partition("(")[0].partition("@")[0].partition("[")[0]
    return _PRINTED.get(word, word.upper() if len(word) <= _ABBREVIATION else word.capitalize()) + name[len(word) :]


_ABBREVIATION = 4
"""Letters of a name up to which it is an abbreviation: ndcg, map, err."""
_PRINTED = {
    "gm-map": "GMAP",
    "r-precision": "R-Prec",
    "iprec": "iP",
    "bpref": "bpref",
    "inf-ap": "infAP",
    "kendall": "Kendall's tau",
    "mean-ndcg": "mean NDCG",
    "pfound": "PFound",
    "gm-bpref": "GM bpref",
    "rbp-residual": "RBP residual",
    "set-map": "set MAP",
}
