"""Published figures of public benchmarks, to compare results with. They are in `published.toml`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from podium.metrics import Metric


@dataclass(frozen=True)
class Published:
    """Published figures of one benchmark."""

    name: str
    sources: tuple[str, ...]
    figures: dict[tuple[Metric, str], tuple[str, ...]]  # of a method; several if papers differ
    preset: str  # the convention of the figures
    same: bool  # whether the metrics compared with them follow it too

    def text(self, metric: Metric, method: str) -> str:
        """The figures of a method as papers print them; empty if there are none."""
        return ", ".join(self.figures.get((metric, method), ()))

    @property
    def caveat(self) -> str:
        """The caveat of a comparison; empty if the conventions are the same."""
        if self.same:
            return ""
        return f"; they follow the convention {self.preset}, these means do not: compare with --preset {self.preset}."


def published(data: Sequence[dict[str, Any]], metrics: Sequence[Metric]) -> Published | None:
    """The published figures for these metrics on this data, which is described fold by fold; None if there are none.

    Figures are matched by a metric's name and cut-off. If conventions differ, `same` is false.
    """
    tests = [fold["parts"].get("test", {}) for fold in data]
    sizes = {
        "queries": sum(test.get("queries", 0) for test in tests),
        "documents": sum(test.get("documents", 0) for test in tests),
        "features": data[0]["features"] if data else 0,
    }
    for benchmark in _benchmarks():
        if sizes == {key: benchmark[key] for key in sizes}:
            return _of(benchmark, metrics)
    return None


def _of(benchmark: dict[str, Any], wanted: Sequence[Metric]) -> Published | None:
    figures: dict[tuple[Metric, str], tuple[str, ...]] = {}
    by_name = {str(metric).partition("[")[0]: metric for metric in reversed(wanted)}
    same = True
    for table in benchmark["table"]:
        for method, row in table["figures"].items():
            for name, value in zip(table["metrics"], row, strict=True):
                theirs = Metric.parse(name, preset=benchmark["preset"])
                metric = theirs if theirs in wanted else by_name.get(name)
                if metric is not None:
                    same = same and metric == theirs
                    figures[metric, method] = (*figures.get((metric, method), ()), value)
    sources = tuple(table["source"] for table in benchmark["table"])
    return Published(benchmark["name"], sources, figures, benchmark["preset"], same) if figures else None


@functools.cache
def _benchmarks() -> list[dict[str, Any]]:
    text = (files("podium.evaluation") / "published.toml").read_text("utf-8")
    return list(tomllib.loads(text)["benchmark"])
