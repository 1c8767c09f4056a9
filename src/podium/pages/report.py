"""Report of a comparison: its files, among them an HTML report with its data as JSON, drawn by `report.js`.

Text of the data is escaped in the JSON so that it cannot end its element; the script inserts it as text, never as
markup.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from podium.base.files import write_texts
from podium.base.version import version
from podium.evaluation.evaluate import all_plain, plain
from podium.evaluation.published import published
from podium.evaluation.report_texts import report_texts
from podium.pages.kit import document, part

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison


@dataclass(frozen=True)
class Names:
    """Texts of queries and titles of documents, by id."""

    texts: Mapping[str, str]
    titles: Mapping[str, str]


def write_report(comparison: Comparison, folder: str | PathLike[str], *, names: Names | None = None) -> None:
    """Write the comparison's files into a folder; each atomically replaces an older one."""
    write_texts(folder, {"report.html": page(comparison, names), **report_texts(comparison)})


def page(comparison: Comparison, names: Names | None = None) -> str:
    """The HTML report; with `names`, it shows texts of queries and titles of documents beside their ids."""
    body = part("report_body.html")
    for script in ("downloads.js", "report.js"):
        body = body.replace(f"/* {script} */", part(script))
    return document(
        "Comparison of ranking methods" if comparison.trained else "Comparison of runs",
        body.replace("/* data */", embedded(page_data(comparison, names))),
        scripts=True,
    )


def page_data(comparison: Comparison, names: Names | None = None) -> dict[str, Any]:
    """Data of the HTML report: the comparison as in results.json, the values of every query, and the details."""
    first = next(iter(comparison.by_method.values()), [])
    benchmark = published(comparison.data, comparison.metrics, dataset=comparison.dataset)
    return {
        "podium": version(),
        "texts": {} if names is None else dict(names.texts),
        "titles": {} if names is None else dict(names.titles),
        "results": comparison.to_dict(),
        "trained": comparison.trained,
        "baseline": comparison.baseline,
        "verdicts": _verdicts(comparison),
        "ranking": comparison.ranking(),
        "lower": [str(metric) for metric in comparison.metrics if not metric.higher_is_better],
        "provenance": comparison.provenance(),
        "seconds": {name: comparison.seconds(name) for name in comparison.by_method},
        "cpu": {name: plain(comparison.cpu_seconds(name)) for name in comparison.by_method},
        "queries": [[outcome.fold, query] for outcome in first for query in outcome.query_ids],
        "values": {
            str(metric): {
                name: [plain(value) for outcome in outcomes for value in outcome.values[m]]
                for name, outcomes in comparison.by_method.items()
            }
            for m, metric in enumerate(comparison.metrics)
        },
        "published": benchmark
        and {
            "name": benchmark.name,
            "sources": benchmark.sources,
            "caveat": benchmark.caveat,
            "figures": {
                str(metric): {name: benchmark.text(metric, name) for name in comparison.by_method}
                for metric in comparison.metrics
            },
        },
        "details": {
            name: [all_plain(outcome.details) for outcome in outcomes]
            for name, outcomes in comparison.by_method.items()
        },
    }


def _verdicts(comparison: Comparison) -> dict[str, str]:
    """The verdict by each metric against a baseline; without one the page finds the best method itself."""
    if comparison.baseline is None:
        return {}
    tests = comparison.significance.items()
    return {metric: tested.verdict(comparison.word) for metric, tested in tests if tested is not None}


def embedded(value: Any) -> str:
    """JSON for a script element of HTML, escaped so that no text can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
