"""Overview of comparisons on several datasets: a table for each metric, and an HTML report with links to each one's.

Methods are ordered by their mean rank over the datasets, by the first metric; equal means share a rank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from podium.base.files import write_texts
from podium.evaluation.evaluate import plain
from podium.evaluation.text_tables import Table, format_value, markdown_table
from podium.pages.kit import static_page, table

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison


def overview(comparisons: Mapping[str, Comparison], metric: str) -> Table:
    """A row per method that finished on every dataset: its mean on each, and its mean rank."""
    means, ranks = _means(comparisons, metric)
    order = sorted(means, key=lambda name: (ranks[name], name))
    rows = [[name, *map(format_value, means[name]), f"{ranks[name]:.2f}"] for name in order]
    return ["method", *comparisons, "mean rank"], rows


def write_overview(comparisons: Mapping[str, Comparison], folder: str | PathLike[str]) -> None:
    """Write table.md, results.json and report.html of all datasets together."""
    metrics = [str(metric) for metric in next(iter(comparisons.values())).metrics]
    tables = {metric: overview(comparisons, metric) for metric in metrics}
    texts = {
        "table.md": "\n".join(f"{metric}\n\n{markdown_table(*table)}" for metric, table in tables.items()),
        "results.json": json.dumps(_results(comparisons, metrics), indent=1, ensure_ascii=False) + "\n",
        "report.html": _page(tables),
    }
    write_texts(folder, texts)


def _means(comparisons: Mapping[str, Comparison], metric: str) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Each method's mean on every dataset, and its mean rank."""
    from scipy.stats import rankdata

    each = list(comparisons.values())
    m = list(map(str, each[0].metrics)).index(metric)
    sign = -1.0 if each[0].metrics[m].higher_is_better else 1.0
    names = [name for name in each[0].by_method if all(name in comparison.by_method for comparison in each)]
    means = {name: [float(comparison.mean(name)[m]) for comparison in each] for name in names}
    losses = np.nan_to_num(sign * np.array(list(means.values())).reshape(len(names), len(each)), nan=np.inf)
    ranks = rankdata(losses, axis=0).mean(axis=1) if names else []
    return means, dict(zip(names, map(float, ranks), strict=True))


def _results(comparisons: Mapping[str, Comparison], metrics: list[str]) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for metric in metrics:
        means, ranks = _means(comparisons, metric)
        for name, values in means.items():
            on = dict(zip(comparisons, map(plain, values), strict=True))
            methods.setdefault(name, {})[metric] = {"mean": on, "rank": ranks[name]}
    return {"metrics": metrics, "datasets": list(comparisons), "methods": methods}


def _page(tables: dict[str, Table]) -> str:
    sections = {}
    for metric, (heads, rows) in tables.items():
        links = {c: f"{quote(name)}/report.html" for c, name in enumerate(heads[1:-1], start=1)}
        sections[metric] = table(heads, rows, label=metric, links=links)
    title = "Ranking methods on several datasets"
    return static_page(title, "The name of a dataset leads to its own report.", sections)
