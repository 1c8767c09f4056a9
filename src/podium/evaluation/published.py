"""Figures that papers print for public benchmarks, to stand beside one's own. `published.toml` holds them."""

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
    """What is printed about one benchmark."""

    name: str
    sources: tuple[str, ...]
    figures: dict[tuple[Metric, str], tuple[str, ...]]  # of a method; several where papers differ

    def shown(self, metric: Metric, method: str) -> str:
        """The figures of a method as a paper prints them; nothing where there is none."""
        return ", ".join(self.figures.get((metric, method), ()))


def published(data: Sequence[dict[str, Any]], metrics: Sequence[Metric]) -> Published | None:
    """The figures for these metrics on this data, which is described fold by fold; None where none is known."""
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
    for table in benchmark["table"]:
        metrics = [Metric.parse(metric, preset=benchmark["preset"]) for metric in table["metrics"]]
        for method, row in table["figures"].items():
            for metric, value in zip(metrics, row, strict=True):
                if metric in wanted:
                    figures[metric, method] = (*figures.get((metric, method), ()), value)
    sources = tuple(table["source"] for table in benchmark["table"])
    return Published(benchmark["name"], sources, figures) if figures else None


@functools.cache
def _benchmarks() -> list[dict[str, Any]]:
    text = (files("podium.evaluation") / "published.toml").read_text("utf-8")
    return list(tomllib.loads(text)["benchmark"])
