"""The report as one HTML page that needs no network: its data as JSON, drawn by a small script of its own.

The template, the style and the script lie in `podium/evaluation/page`. Whatever comes from the data is text in JSON,
with the characters escaped that could end the element it stands in; the script writes it as text, never as markup.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from podium.evaluation.evaluate import all_plain, plain
from podium.evaluation.published import published
from podium.version import version

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison


def page(comparison: Comparison) -> str:
    """The whole page."""
    parts = files("podium.evaluation") / "page"
    made = (parts / "report.html").read_text("utf-8")
    for name in ("report.css", "report.js"):
        made = made.replace(f"/* {name} */", (parts / name).read_text("utf-8"))
    return made.replace("/* data */", embedded(page_data(comparison)))


def page_data(comparison: Comparison) -> dict[str, Any]:
    """What the page shows: the comparison as in results.json, the values of every query, and the details."""
    outcomes = next(iter(comparison.by_method.values()), [])
    known = published(comparison.data, comparison.metrics)
    return {
        "podium": version(),
        "results": comparison.to_dict(),
        "ranking": comparison.ranking(),
        "lower": [str(metric) for metric in comparison.metrics if not metric.higher_is_better],
        "provenance": comparison.provenance(),
        "seconds": {name: comparison.seconds(name) for name in comparison.by_method},
        "cpu": {name: plain(comparison.cpu_seconds(name)) for name in comparison.by_method},
        "queries": [[outcome.fold, query] for outcome in outcomes for query in outcome.query_ids],
        "values": {
            str(metric): {
                name: [plain(value) for outcome in found for value in outcome.values[m]]
                for name, found in comparison.by_method.items()
            }
            for m, metric in enumerate(comparison.metrics)
        },
        "published": known
        and {
            "name": known.name,
            "sources": known.sources,
            "caveat": known.caveat,
            "figures": {
                str(metric): {name: known.text(metric, name) for name in comparison.by_method}
                for metric in comparison.metrics
            },
        },
        "details": {name: [all_plain(o.details) for o in found] for name, found in comparison.by_method.items()},
    }


def embedded(value: Any) -> str:
    """JSON for a script element of HTML, which no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
