"""Metrics in Prometheus' text form. Workers write theirs to a folder, so that each can tell the sum of all."""

from __future__ import annotations

import bisect
import json
import os
from collections.abc import Iterable
from pathlib import Path

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_HELP = {
    "podium_requests_total": ("counter", "Requests, by route and status."),
    "podium_request_seconds": ("histogram", "Time from the head of a request to its answer."),
    "podium_score_seconds": ("histogram", "Time to score and order the documents of a query."),
    "podium_feedback_total": ("counter", "Events of feedback, by what became of them."),
    "podium_feedback_queue": ("gauge", "Events that wait to be written."),
    "podium_experiment_total": ("counter", "Requests in experiments: answered, or failed and answered by the control."),
    "podium_shadow_dropped_total": (
        "counter",
        "Requests that a shadow did not score, since too many waited.",
    ),
    "podium_model_info": ("gauge", "Models on the shelf; 1."),
    "podium_requests_in_work": ("gauge", "Requests that are being answered."),
}
Values = dict[str, list[float]]
"""Numbers by name and labels, e.g. podium_requests_total{route="/v1/rank",status="200"}: one, or sum and buckets."""


class Metrics:
    """Counts and times of one process."""

    def __init__(self, folder: str | None = None) -> None:
        self._values: Values = {}
        self._file = None if folder is None else Path(folder, f"metrics-{os.getpid()}.json")

    def count(self, name: str, labels: str, by: float = 1.0) -> None:
        """Add to a counter."""
        found = self._values.get(f"{name}{{{labels}}}")
        if found is None:
            self._values[f"{name}{{{labels}}}"] = [by]
        else:
            found[0] += by

    def observe(self, name: str, labels: str, seconds: float) -> None:
        """Add a time to a histogram."""
        key = f"{name}{{{labels}}}"
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = [0.0] * (len(_BUCKETS) + 2)
        found[0] += seconds
        found[1 + bisect.bisect_left(_BUCKETS, seconds)] += 1.0

    def share(self) -> None:
        """Write the numbers for the other workers."""
        if self._file is not None:
            aside = self._file.with_suffix(".part")
            aside.write_text(json.dumps(dict(self._values)))
            os.replace(aside, self._file)

    def text(self, gauges: Iterable[tuple[str, str, float]]) -> str:
        """All numbers, with those of other workers, and some of this moment: (name, labels, value)."""
        lines, last = [], ""
        whole = self._whole() | {f"{name}{{{labels}}}": [value] for name, labels, value in gauges}
        for key in sorted(whole):
            name, _, labels = key.partition("{")
            labels = labels.removesuffix("}")
            kind, words = _HELP[name]
            if name != last:
                lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
                last = name
            if kind != "histogram":
                lines.append(f"{name}{{{labels}}} {whole[key][0]:g}" if labels else f"{name} {whole[key][0]:g}")
                continue
            total = 0.0
            for edge, number in zip((*map(str, _BUCKETS), "+Inf"), whole[key][1:], strict=True):
                total += number
                lines.append(f'{name}_bucket{{{labels},le="{edge}"}} {total:g}')
            lines += [f"{name}_sum{{{labels}}} {whole[key][0]:.6f}", f"{name}_count{{{labels}}} {total:g}"]
        return "\n".join(lines) + "\n"

    def _whole(self) -> Values:
        found = {key: list(values) for key, values in list(self._values.items())}
        if self._file is None:
            return found
        for path in self._file.parent.glob("metrics-*.json"):
            if path == self._file:
                continue
            for key, values in json.loads(path.read_text()).items():
                mine = found.setdefault(key, [0.0] * len(values))
                found[key] = [a + b for a, b in zip(mine, values, strict=True)]
        return found
