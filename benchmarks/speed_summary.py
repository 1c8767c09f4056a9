"""The head of the page of speed: who is faster, which goals are missed and why, where another tool is faster."""

from __future__ import annotations

from typing import Any

from benchmarks.contest import OURS
from benchmarks.units import shown

YARDSTICKS = {
    "prototype", "numpy's products and tanh", "python -c 'import numpy'", "scoring alone", "the same, all compiled",
    "podium, transform=identity", "podium, lambdamart", "podium, auto",
}  # fmt: skip
"""Contestants that are no other tools, but what the work takes at least, or podium in another way."""
TITLES = {
    "reading": "reading LETOR text", "trec": "TREC runs", "measures": "metrics of arrays", "sweeps": "sweeps of losses",
    "epochs": "epochs of linear models", "lambdamart": "LambdaMART", "quality": "training to the best model",
    "tuned": "tuned models of few queries",
    "scoring": "scoring", "text": "texts: index, search, features", "clicks": "click models",
    "command_line": "the command line", "service": "the service", "first_use": "first use",
}  # fmt: skip
REASONS = {
    "LETOR text": "The parser's loop takes 70 % of the time, at 780 MB per CPU second.",
    "lambdarank": "A third of the time is a logarithm, for a value that the prototype does not compute.",
    "listmle": "It averages over the orders of tied documents.",
    "listnet": "It computes two exponentials a document, in double precision, and the curvature.",
    "an epoch of listmle": "It is on one side or the other of the goal from run to run.",
    "LambdaMART, 100 trees of 31 leaves, 70,000 × 136, with validation data, 2 threads": (
        "A quarter of a second is what LightGBM does not do: the temperature of the model's odds."
    ),
    "podium methods": "0.2 s are numpy, 0.1 s typer's pydantic and 0.2 s making dataclasses.",
    "first training of": (
        "32 functions are compiled for every method, 45 to 120 in all; a third of that is LLVM's time, most of the "
        "rest numba's own Python."
    ),
}
"""Why a goal is missed, where that is known, by how the names of rows begin."""


def head(benchmarks: dict[str, Any]) -> str:
    """Everything before the pictures and tables."""
    return "\n".join([_opening(benchmarks), "", _table(benchmarks), "", _missed(benchmarks), "", _slower(benchmarks)])


def tool_ratio(row: dict[str, Any]) -> tuple[float, str] | None:
    """The fastest other tool's time over podium's, and its name."""
    tools = [(found["median"], name) for name, found in row["seconds"].items() if name not in {OURS, *YARDSTICKS}]
    if not tools:
        return None
    seconds, name = min(tools)
    return seconds / row["seconds"][OURS]["median"], name


def _opening(benchmarks: dict[str, Any]) -> str:
    ratios = [ratio[0] for part in benchmarks.values() for row in part["rows"] if (ratio := tool_ratio(row))]
    faster = sum(ratio >= 1 for ratio in ratios)
    goals = [row["met"] for part in benchmarks.values() for row in part["rows"] if row["met"] is not None]
    days = sorted({part["at"][:10] for part in benchmarks.values()})
    measured = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    counts = {name: sum(row["met"] is False for row in part["rows"]) for name, part in benchmarks.items()}
    most = max(counts, key=lambda name: counts[name])
    share = f", and {counts[most]} of the missed ones are of {TITLES.get(most, most)}" if counts[most] else ""
    return (
        f"**podium is faster than the fastest other tool in {faster} of {len(ratios)} rows that have one, and slower "
        f"in {len(ratios) - faster}. It meets {sum(goals)} of {len(goals)} goals{share}.** Measured {measured}. Repeat "
        "it by `pip install 'podium[bench]'` and `python -m benchmarks -o docs/benchmarks` (an hour), or one part "
        "of it by its name, such as `python -m benchmarks trec`."
    )


def _table(benchmarks: dict[str, Any]) -> str:
    lines = ["| work | compared with | times as fast as the fastest of them | slower in | goals met | measured |"]
    lines += ["|---|---|--:|--:|--:|---|"]
    for name, part in benchmarks.items():
        ratios = sorted(ratio for row in part["rows"] if (ratio := tool_ratio(row)))
        tools = sorted({tool for row in part["rows"] for tool in row["seconds"]} - {OURS, *YARDSTICKS})
        goals = [row["met"] for row in part["rows"] if row["met"] is not None]
        cells = [
            f"[{TITLES.get(name, name)}](#{name.replace('_', '-')})",
            ", ".join(tools) or "–",
            _range([ratio for ratio, _ in ratios], "{:.2f}"),
            f"{sum(ratio < 1 for ratio, _ in ratios)} of {len(ratios)}" if ratios else "–",
            f"{sum(goals)} of {len(goals)}" if goals else "–",
            part["at"][:10],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _range(numbers: list[float], form: str) -> str:
    if not numbers:
        return "–"
    low, high = form.format(min(numbers)), form.format(max(numbers))
    return low if low == high else f"{low} to {high}"


def _missed(benchmarks: dict[str, Any]) -> str:
    """Rows that miss their goal, one line for those that share a reason."""
    lines = ["## Missed goals", ""]
    for part in benchmarks.values():
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in part["rows"]:
            if row["met"] is False:
                groups.setdefault(_reason(row["what"]) or row["what"], []).append(row)
        lines += [_line(start, rows) for start, rows in groups.items()]
        lines += [f"- {sentence}" for sentence in part.get("missed", [])]
    return "\n".join(lines if len(lines) > 2 else [*lines, "None."])


def _reason(what: str) -> str | None:
    """The longest beginning of the name that has a reason."""
    return max((start for start in REASONS if what.startswith(start)), key=len, default=None)


def _line(start: str, rows: list[dict[str, Any]]) -> str:
    what = rows[0]["what"] if len(rows) == 1 else f"{start} …, {len(rows)} rows"
    times = sorted(row["seconds"][OURS]["median"] for row in rows)
    took = shown(times[0]) if len(rows) == 1 else f"{shown(times[0])} to {shown(times[-1])}"
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    peers = " or ".join(sorted({row["best_peer"] for row in rows if row["best_peer"]}))
    speed = f", ratio {_range(ratios, '{:.2f}')} ({peers})" if ratios else ""
    goals = "; ".join(dict.fromkeys(row["goal"] for row in rows))
    return f"- **{what}**: {took}{speed}. Goal: {goals}. {REASONS.get(start, 'No reason is recorded.')}"


def _slower(benchmarks: dict[str, Any]) -> str:
    """Rows in which another tool is faster, whatever the goal."""
    lines = ["## Slower than another tool", ""]
    for part in benchmarks.values():
        for row in part["rows"]:
            ratio = tool_ratio(row)
            if ratio is not None and ratio[0] < 1:
                ours, peer = shown(row["seconds"][OURS]["median"]), shown(row["seconds"][ratio[1]]["median"])
                lines.append(f"- {row['what']}: podium {ours}, {ratio[1]} {peer} ({ratio[0]:.2f} ×).")
    return "\n".join(lines if len(lines) > 2 else [*lines, "Nowhere."])
