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
    preset: str | None  # the convention of the figures
    same: bool  # whether the metrics compared with them follow it too

    def text(self, metric: Metric, method: str) -> str:
        """The figures of a method as papers print them; empty if there are none."""
        return ", ".join(self.figures.get((metric, method), ()))

    @property
    def caveat(self) -> str:
        """The caveat of a comparison; empty if the conventions are the same."""
        if self.same:
            return ""
        if self.preset is None:
            return "; they follow podium's own conventions, these means do not: compare without --preset."
        return f"; they follow the convention {self.preset}, these means do not: compare with --preset {self.preset}."


def published(data: Sequence[dict[str, Any]], metrics: Sequence[Metric], *, dataset: str = "") -> Published | None:
    """The published figures for these metrics on this data, which is described fold by fold; None if there are none.

    Figures are matched by a metric's name and cut-off. If conventions differ, `same` is false.
    """
    tests = [fold["parts"].get("test", {}) for fold in data]
    whole = list(data[0]["parts"].values()) if len(data) == 1 else []
    features = data[0]["features"] if data else 0
    for benchmark in _benchmarks():
        sizes = _sizes(whole if benchmark.get("split") == "random" else tests)
        sizes |= {"features": features, "dataset": dataset}
        if all(sizes[key] == benchmark[key] for key in sizes if key in benchmark):
            return _of(benchmark, metrics)
    return None


def _sizes(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {key: sum(part.get(key, 0) for part in parts) for key in ("queries", "documents")}


def _of(benchmark: dict[str, Any], wanted: Sequence[Metric]) -> Published | None:
    figures: dict[tuple[Metric, str], tuple[str, ...]] = {}
    by_name = {str(metric).partition("[")[0]: metric for metric in reversed(wanted)}
    same, preset = True, benchmark.get("preset")
    for table in benchmark["table"]:
        for method, row in table["figures"].items():
            for name, value in zip(table["metrics"], row, strict=True):
                theirs = Metric.parse(name, preset=preset)
                metric = theirs if theirs in wanted else by_name.get(name)
                if metric is not None:
                    same = same and metric == theirs
                    figures[metric, method] = _with(figures.get((metric, method), ()), value)
    sources = tuple(table["source"] for table in benchmark["table"])
    return Published(benchmark["name"], sources, figures, preset, same) if figures else None


def _with(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    """Figures with one more, unless it is one of them with fewer digits."""
    unit = 10.0 ** -len(value.partition(".")[2])
    again = any(abs(float(value) - float(other)) < 0.501 * unit for other in values)
    return values if again else (*values, value)


@functools.cache
def _benchmarks() -> list[dict[str, Any]]:
    text = (files("podium.evaluation") / "published.toml").read_text("utf-8")
    return list(tomllib.loads(text)["benchmark"])
