"""The words of the page of speed: who is faster, where another tool is, which goals are missed and why."""

from __future__ import annotations

import re
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
ABOUT = {
    "reading": "A training file of LETOR text becomes arrays in memory.",
    "trec": "What an evaluation script does: read a run and judgments, compute metrics; and fuse several runs.",
    "measures": "Metrics of scores and labels that are in memory already.",
    "sweeps": "One pass over a training set: value, gradient and curvature of a loss, which an epoch needs.",
    "epochs": "Training of linear models and networks, for so many queries a step.",
    "lambdamart": "Boosted trees of equal size; NDCG@10 is that of other queries.",
    "quality": "Time until a tool has its best model, with early stopping; the lead in NDCG@10 is in the details.",
    "tuned": "Time of all fits by which validation queries choose a model.",
    "scoring": "A trained model scores documents: 100 as for one search, a million as for a nightly job.",
    "text": "Full-text search, and the features of its candidates.",
    "clicks": "Fitting click models by EM, and reading logs.",
    "command_line": "Start of a command to its end, compared with the start of Python and numpy alone.",
    "service": "A request over HTTP, compared with the scoring of its documents alone.",
    "first_use": "The first evaluation or training after installation compiles code, which later runs reuse.",
}
"""What each benchmark measures, in a sentence."""
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
    """What a reader looks for first: who is faster at what, and where another tool is."""
    return "\n\n".join([_opening(benchmarks), _table(benchmarks), _slower(benchmarks)])


def goals(benchmarks: dict[str, Any]) -> str:
    """The goals of podium's developers: how many are met, and which are missed."""
    met = [row["met"] for part in benchmarks.values() for row in part["rows"] if row["met"] is not None]
    counts = {name: sum(row["met"] is False for row in part["rows"]) for name, part in benchmarks.items()}
    most = max(counts, key=lambda name: counts[name])
    share = f"; {counts[most]} of the missed ones are of {TITLES.get(most, most)}" if counts[most] else ""
    text = f"Some rows have a goal, for those who work on podium. {sum(met)} of {len(met)} are met{share}."
    return "\n\n".join(["## Missed goals", text, _missed(benchmarks)])


def title(name: str) -> str:
    """Heading of a benchmark's section."""
    words = TITLES.get(name, name)
    return words[:1].upper() + words[1:]


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
    days = sorted({part["at"][:10] for part in benchmarks.values()})
    measured = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return (
        "How long does podium take, compared with the tool that you would use instead? **It is faster than the fastest "
        f"other tool in {faster} of {len(ratios)} rows that have one, and slower in {len(ratios) - faster}.** The "
        f"table has the answer for each kind of work, and a link to its figures. Measured {measured}, by "
        "`python -m benchmarks -o docs/benchmarks`."
    )


def _table(benchmarks: dict[str, Any]) -> str:
    lines = ["| work | compared with | times as fast as the fastest | rows slower |"]
    lines += ["|---|---|--:|--:|"]
    for name, part in benchmarks.items():
        ratios = sorted(ratio for row in part["rows"] if (ratio := tool_ratio(row)))
        tools = sorted({tool for row in part["rows"] for tool in row["seconds"]} - {OURS, *YARDSTICKS})
        cells = [
            f"[{TITLES.get(name, name)}](#{_anchor(title(name))})",
            ", ".join(tools) or "–",
            _range([ratio for ratio, _ in ratios], "{:.2f}"),
            f"{sum(ratio < 1 for ratio, _ in ratios)} of {len(ratios)}" if ratios else "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _anchor(heading: str) -> str:
    """Anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _range(numbers: list[float], form: str) -> str:
    if not numbers:
        return "–"
    low, high = form.format(min(numbers)), form.format(max(numbers))
    return low if low == high else f"{low} to {high}"


def _missed(benchmarks: dict[str, Any]) -> str:
    """Rows that miss their goal, one line for those that share a reason."""
    lines: list[str] = []
    for part in benchmarks.values():
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in part["rows"]:
            if row["met"] is False:
                groups.setdefault(_reason(row["what"]) or row["what"], []).append(row)
        lines += [_line(start, rows) for start, rows in groups.items()]
        lines += [f"- {sentence}" for sentence in part.get("missed", [])]
    return "\n".join(lines or ["None."])


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
    lines = []
    for part in benchmarks.values():
        for row in part["rows"]:
            ratio = tool_ratio(row)
            if ratio is not None and ratio[0] < 1:
                ours, peer = shown(row["seconds"][OURS]["median"]), shown(row["seconds"][ratio[1]]["median"])
                lines.append(f"| {row['what']} | {ours} | {peer} | {ratio[1]} | {ratio[0]:.2f} × |")
    table = ["| work | podium | best other | which is | podium's speed |", "|---|--:|--:|---|--:|", *lines]
    return "\n".join(["## Where another tool is faster", "", *(table if lines else ["Nowhere."])])
