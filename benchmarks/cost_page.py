"""The page of costs, docs/benchmarks/cost.md, from the figures in cost.json."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.units import shown
from podium.methods import METHODS

SIZES = [10, 30, 100, 300, 1_000, 3_000, 10_000]
PROMISED: dict[str, tuple[str, float]] = {
    "regression": ("n", 1), "subset-regression": ("n", 1), "mcrank": ("n", 1), "mcrank-ordinal": ("n", 1),
    "prank": ("n", 1), "oc-svm": ("n", 1), "oc-svm-sum": ("n", 1), "ranknet": ("n²", 2),
    "ranknet(ties=true)": ("n²", 2),
    "hinge": ("n log n", 1.1), "ranking-svm": ("n log n", 1.1), "ranking-svm-kernel": ("n log n", 1.1),
    "ir-svm": ("n²", 2), "rank-regress": ("n", 1), "frank": ("n²", 2), "pairties-rk": ("n²", 2),
    "pairties-d": ("n²", 2),
    "mallows": ("n²", 2), "thurstone": ("n", 1),
    "exponential": ("n", 1), "lambdarank": ("k·n, k = 10", 1), "lambdarank(metric=ndcg)": ("n²", 2),
    "lambdarank(metric=map)": ("n²", 2), "lambdamart": ("k·n, k = 30", 1), "lambdamart-map": ("n²", 2),
    "lambdamart-err": ("k·n, k = 10", 1), "lambdamart-mrr": ("n²", 2), "rankboost": ("n", 1), "gbrank": ("n²", 2),
    "sortnet": ("n²", 2), "splitting": ("n log n", 1.1), "listnet": ("n", 1), "listnet(k=2)": ("n", 1),
    "softmax": ("n", 1),
    "listnet(k=3)": ("n²", 2),
    "listnet(k=10)": ("k·n", 1), "listmle": ("n", 1), "listmle(k=10)": ("n", 1), "pmop-fd": ("n", 1),
    "pmop-exact": ("n^1.5", 1.5), "pmop-gibbs": ("n", 1), "pmop-mh": ("n", 1), "boltzrank": ("n", 1),
    "energy-ndcg": ("n²", 2), "energy-ndcg(window=5)": ("n²", 2), "energy-ndcg(metric=map)": ("n³", 3),
    "adarank-map": ("n log n", 1.1), "adarank-ndcg": ("n log n", 1.1), "svm-map": ("n log n", 1.1),
    "svm-ndcg": ("n log n", 1.1), "permurank": ("n log n", 1.1), "c-crf": ("n³", 3),
    "lambdaloss": ("n²", 2), "lambdaloss-trees": ("n²", 2), "yetirank": ("n log n", 1.1), "xe-ndcg-mart": ("n", 1),
    "coordinate-ascent": ("n²", 2), "random-forest": ("n", 1),
    "structrank": ("n·p + p³, p points of a grid", 1),
    "structrank(topology=disconnected)": ("n·p + p³", 1), "structrank(functions=3)": ("n·p + p³", 1),
    "structrank(topology=random)": ("edges: n²", 2),
    "structrank(topology=plackett-luce)": ("edges: n²", 2), "softrank": ("n²·k, k = 10", 2),
    "softrank(k=none)": ("n³", 3), "apprank": ("n²", 2), "apprank-ap": ("n²", 2), "single-feature": ("n log n", 1.1),
    "random": ("n", 1),
}  # fmt: skip
"""What pages say, per query and sweep, or per fit; and the exponent to expect, n log n having about 1.1."""
_LOOKED_UP = "n² pairs, 6 ns each at n = 1,000 and 9 at 24,000: what swaps look up outgrows the cache."
NOTES = {
    "oc-svm": "a step of the interior point method is linear in n, but it takes 15 of them at n = 100, 29 at 3,000.",
    "oc-svm-sum": "as oc-svm; 26 steps at n = 100, 56 at 1,000.",
    "lambdamart-map": _LOOKED_UP,
    "lambdarank(metric=map)": _LOOKED_UP,
    "structrank(topology=random)": "each edge looks up partners at random places of a list that leaves the cache.",
}
"""Why a row grows faster than promised, where that is known."""


def text(figures: dict[str, Any]) -> str:
    """The whole page."""
    families = figures["families"]
    tables = "\n".join(table(family, part) for family, part in families.items())
    head = HEAD.format(
        opening=opening(families),
        summary=summary(families, figures["seconds"]),
        absent=absent(families),
        minutes=figures["minutes"],
        at=figures["at"],
        seconds=figures["seconds"],
    )
    return head + tables + "\n" + table_of_edges(figures["edges"])


HEAD = """# What methods cost

{opening}

Measured on {at}. `python -m benchmarks.cost -o docs/benchmarks` repeats it in some {minutes:.0f} minutes.
{absent}
## In short

The fastest and the slowest method of each family by CPU time, for queries of 100 and of 1,000 documents. *Sweep*: one
pass of the loss over one query. *Fit*: a whole training on 8 queries with 10 features. Variants such as `listnet(k=3)`
are in the tables below alone.

{summary}

## How to read the tables

- **A sweep** is the loss of one query with its gradient and curvature, which a recipe needs in each step of its solver:
  one iteration over 1,000 queries takes 1,000 sweeps, and the time of the scorer, which is not counted here.
- **A fit** is all of the training of a method that is no recipe. Sweeps and fits cannot be compared with each other.
- Compilation is not counted. Figures are the least of some repeats. **–** is not measured, since it was expected to
  take longer than {seconds:g} s.
- **Exponent**: the slope of log time over log n in the last three figures. 1 is time proportional to the documents of a
  query, 2 to their pairs. It may lie below the promise of the method's page while fixed costs last. **▲** marks a row
  that grows faster than promised by more than 0.3; the reason stands below its table.

"""


def opening(families: dict[str, Any]) -> str:
    """Who is fastest, who is slowest, and how many break their promise."""
    sentences = []
    for size in (100, 1_000):
        timed = sorted((at(row, size), row["name"]) for row in named(families) if not row["fit"] and at(row, size))
        (low, fastest), (high, slowest) = timed[0], timed[-1]
        sentences.append(f"{shown(low)} (`{fastest}`) to {shown(high)} (`{slowest}`) with {size:,} documents")
    rows = [row for part in families.values() for row in part["rows"]]
    over = [f"`{row['name']}`" for row in rows if grows_too_fast(row)]
    kept = "no row grows" if not over else f"{len(over)} of {len(rows)} rows, {' and '.join(over)}, grow"
    return (
        f"**A sweep of a loss over one query takes {' and '.join(sentences)}**, on one thread. {kept.capitalize()} "
        "faster with the number of documents than the method's page promises."
    )


def summary(families: dict[str, Any], limit: float) -> str:
    """Fastest and slowest of each family."""
    lines = ["| family | | 100 documents: fastest | slowest | 1,000 documents: fastest | slowest |"]
    lines += ["|---|---|--:|--:|--:|--:|"]
    for family in families:
        for fit, kind in ((False, "sweep"), (True, "fit")):
            rows = [row for row in named({family: families[family]}) if row["fit"] == fit]
            if rows:
                cells = [cell for size in (100, 1_000) for cell in extremes(rows, size, limit)]
                noted = f" ([see its note](#{family}))" if "note" in families[family] else ""
                lines.append(f"| {family}{noted} | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def extremes(rows: list[dict[str, Any]], size: int, limit: float) -> tuple[str, str]:
    """The fastest and the slowest of some rows; those that were not measured were expected to take too long."""
    timed = sorted((at(row, size), row["name"]) for row in rows if at(row, size))
    missing = [f"`{row['name']}`" for row in rows if not at(row, size)]
    cells = [f"`{name}` {shown(seconds)}" for seconds, name in timed]
    slowest = (
        f"{', '.join(missing)}: not run, expected over {limit:g} s" if missing else cells[-1] if len(cells) > 1 else "–"
    )
    return (cells[0] if cells else "–"), slowest


def named(families: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of methods as they are named, without variants."""
    return [row for part in families.values() for row in part["rows"] if "(" not in row["name"]]


def at(row: dict[str, Any], size: int) -> float | None:
    """CPU seconds with so many documents, if they were measured."""
    place = SIZES.index(size)
    return row["seconds"][place] if place < len(row["seconds"]) else None


def absent(families: dict[str, Any]) -> str:
    """Methods that are newer than the figures."""
    measured = {row["name"] for row in named(families)}
    names = [f"`{name}`" for name in METHODS if name in PROMISED and name not in measured]
    return f"Not measured yet: {', '.join(names)}.\n" if names else ""


def table(family: str, part: dict[str, Any]) -> str:
    """The rows of a family, as Markdown."""
    lines = [f"## {family.capitalize()}", ""]
    lines += ["| documents | " + " | ".join(f"{n:,}" for n in SIZES) + " | exponent | promised |"]
    lines += ["|---|" + "--:|" * (len(SIZES) + 1) + ":--|"]
    lines += [row_text(row) for row in part["rows"]]
    for row in part["rows"]:
        if grows_too_fast(row):
            lines += ["", f"▲ `{row['name']}`: {NOTES.get(row['name'], 'not explained yet.')}"]
    if "note" in part:
        lines += ["", part["note"]]
    return "\n".join([*lines, ""])


def row_text(row: dict[str, Any]) -> str:
    name = f"`{row['name']}`" + (" *fit*" if row["fit"] else "")
    cells = [shown(seconds) for seconds in row["seconds"]] + ["–"] * (len(SIZES) - len(row["seconds"]))
    slope = f"{exponent(row['seconds']):.2f}" + (" ▲" if grows_too_fast(row) else "")
    return f"| {name} | " + " | ".join([*cells, slope, PROMISED[row["name"]][0]]) + " |"


def grows_too_fast(row: dict[str, Any]) -> bool:
    return exponent(row["seconds"]) > PROMISED[row["name"]][1] + 0.3


def exponent(times: list[float]) -> float:
    """The slope of log time over log n in the last three figures."""
    last = min(3, len(times))
    if last < 2:
        return math.nan
    sizes = np.log(SIZES[len(times) - last : len(times)])
    return float(np.polyfit(sizes, np.log(times[-last:]), 1)[0])


def table_of_edges(rows: list[dict[str, float]]) -> str:
    """StructRank over |P| edges: unlisted, listed, on scores a thousand times wider, and pair by pair."""
    lines = [
        "## StructRank over edges",
        "",
        "Half of n documents are relevant: |P| = n²/4. The double sum is numpy's; the error is that of the value.",
        "",
        "| \\|P\\| | from grades | from a list | scores × 1000 | the double sum | relative error |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        times = [shown(row[key]) if key in row else "–" for key in ("grades", "list", "wide", "double_sum")]
        error = f"{row['error']:.0e}" if "error" in row else "–"
        lines.append("| " + " | ".join([f"{row['edges']:,}", *times, error]) + " |")
    return "\n".join([*lines, ""])
