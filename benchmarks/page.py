"""The page of the figures: docs/benchmarks/speed.md, speed.json and speed.svg."""

from __future__ import annotations

import dataclasses
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS, Row
from benchmarks.speed_summary import ABOUT, goals, head, title
from benchmarks.units import digits, scale_of

TOOLS = [
    "podium", "numpy", "numba", "lightgbm", "xgboost-cpu", "catboost", "pytrec_eval-terrier", "ranx", "ir_measures",
    "rax", "jax", "onnxruntime", "scikit-learn",
]  # fmt: skip

ALONE = {"quality", "tuned", "command_line", "service", "first_use"}
"""Benchmarks that are not in the picture: their rows stand beside no other tool, or their times are not the point."""


def write(results: dict[str, list[Row]], folder: Path, *, quick: bool) -> None:
    """Write the figures of this run beside those of benchmarks that it did not run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "speed.json"
    whole: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"benchmarks": {}}
    about = {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "processor": processor(),
        "versions": {name: _version(name) for name in TOOLS},
        "quick": quick,
    }
    for name, rows in results.items():
        before = whole["benchmarks"].get(name)
        whole["benchmarks"][name] = {**about, "rows": [dataclasses.asdict(row) for row in rows]}
        if before is not None:
            whole["benchmarks"][name]["before"] = {key: before[key] for key in ("at", "processor", "rows")}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    (folder / "speed.md").write_text(text(whole))
    picture(whole, folder / "speed.svg")


MEANING = """## How to repeat it

    pip install 'podium[bench]'
    python -m benchmarks -o docs/benchmarks         # about an hour; writes this page
    python -m benchmarks trec                       # one benchmark; prints its figures
    python -m benchmarks --quick                    # small data, minutes: whether it runs

## How to read the tables

- Contestants take turns at the same work. Times are medians of CPU seconds, or of wall time where the table
  says so; in brackets the range that holds half of the repeats.
- **Best peer** is the fastest contestant but podium. It need not be a tool: a *prototype* is a throw-away kernel for
  this one loss, and the command line, the service and first use are compared with what they take at least. The tables
  above count tools alone.
- **Times as fast** is the peer's time over podium's: above 1, podium is faster. **Before** is the same of the run
  before, or podium's time if there is no peer.
- **Goal** is what podium's developers want to reach.
"""
MANY = 12
"""Rows from which a table is folded."""


def text(whole: dict[str, Any]) -> str:
    """The page: the answer first, then how it was measured, the figures, and the missed goals."""
    benchmarks = whole["benchmarks"]
    parts = [
        "# Speed compared with other tools\n",
        head(benchmarks) + "\n",
        MEANING,
        "![Times of the best peers as multiples of podium's](speed.svg)\n",
        *(_section(name, figures) for name, figures in benchmarks.items()),
        goals(benchmarks) + "\n",
    ]
    versions = next(iter(benchmarks.values()))["versions"]
    parts.append("Versions: " + ", ".join(f"{name} {one}" for name, one in versions.items() if one) + ".\n")
    return "\n".join(parts)


def _section(name: str, figures: dict[str, Any]) -> str:
    """Figures of one benchmark: its table, and the other contestants and notes folded."""
    before = figures.get("before", {"rows": []})
    earlier = f"; the run before: {before['at']} UTC, {before['processor']}" if before["rows"] else ""
    when = f"`python -m benchmarks {name}`, {figures['at']} UTC, {figures['processor']}"
    earlier_rows = {row["what"]: row for row in before["rows"]}
    lines = ["| what | podium | best peer | times as fast | goal | met | before |", "|---|--:|--:|--:|---|---|--:|"]
    lines += [_table_row(row, earlier_rows.get(row["what"])) for row in figures["rows"]]
    table, details = "\n".join(lines), "\n".join(note for row in figures["rows"] if (note := _more(row)))
    notes = "\n".join(f"- {note}" for note in figures.get("notes", []))
    return "\n\n".join(
        [
            f"## {title(name)}",
            " ".join([ABOUT.get(name, ""), f"{when}{', --quick' if figures['quick'] else ''}{earlier}."]).strip(),
            _folded(f"{len(figures['rows'])} rows", table) if len(figures["rows"]) > MANY else table,
            *([_folded("Other contestants, and details", details)] if details else []),
            *([_folded("Notes on this run", notes)] if notes else []),
        ]
    ) + "\n"  # fmt: skip


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _table_row(row: dict[str, Any], before: dict[str, Any] | None) -> str:
    best = f"{row['best_peer']} {_shown(row['seconds'][row['best_peer']])}" if row["best_peer"] else "–"
    met = {True: "yes", False: "**no**", None: ""}[row["met"]]
    clock = " (wall)" if row["clock"] == "wall" else ""
    was = "–" if before is None else _ratio(before)
    if was == "–" and before is not None:
        was = _shown(before["seconds"][OURS])
    ours = _shown(row["seconds"][OURS])
    return f"| {row['what']} | {ours}{clock} | {best} | {_ratio(row)} | {row['goal']} | {met} | {was} |"


def _more(row: dict[str, Any]) -> str:
    """Times of the other contestants, who is absent and why, and the note of a row; empty if there is none."""
    others = [f"{peer} {_shown(one)}" for peer, one in row["seconds"].items() if peer not in (OURS, row["best_peer"])]
    absent = [f"{peer}: {why}" for peer, why in row["absent"].items() if why != "has no such loss"]
    more = "; ".join([*others, *absent, *([row["note"]] if row["note"] else [])])
    return f"- {row['what']}: {more}" if more else ""


def picture(whole: dict[str, Any], path: Path) -> None:
    """Ratios to the best peer as bars, on a logarithmic axis; nothing where matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.rcParams.update({"svg.hashsalt": "podium", "svg.fonttype": "none"})
    beside_tools = [found for name, found in whole["benchmarks"].items() if name not in ALONE]
    rows = [row for found in beside_tools for row in found["rows"] if row["ratio"] is not None]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(9, 0.28 * len(rows) + 1))
    names = [f"{row['what']}  ·  {row['best_peer']}" for row in rows]
    ratios = [row["ratio"] for row in rows]
    colours = ["#2f7d4f" if ratio >= 1 else "#c2553a" for ratio in ratios]
    axes.barh(range(len(rows)), [ratio - 1 for ratio in ratios], left=1, color=colours, height=0.65)
    for k, ratio in enumerate(ratios):
        axes.text(ratio, k, f" {ratio:.1f} × ", va="center", ha="left" if ratio >= 1 else "right", fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1, color="#555555", linewidth=0.8)
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as the best peer")
    axes.spines[["top", "right", "left"]].set_visible(False)
    low, high = min(ratios), max(ratios)
    axes.set_xlim(min(0.5, low / 2), high * 2.5)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _ratio(row: dict[str, Any]) -> str:
    return f"{row['ratio']:.2f} ×" if row["ratio"] is not None else "–"


def _shown(found: dict[str, float]) -> str:
    scale, unit = scale_of(found["median"])
    low, median, high = (digits(found[key] * scale) for key in ("low", "median", "high"))
    return f"{median} {unit} ({low}–{high})"


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
