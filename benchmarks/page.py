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

TOOLS = [
    "podium", "numpy", "numba", "lightgbm", "xgboost-cpu", "catboost", "pytrec_eval-terrier", "ranx", "ir_measures",
    "rax", "jax", "onnxruntime", "scikit-learn",
]  # fmt: skip

ALONE = {"quality", "command_line", "service", "first_use"}
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


def text(whole: dict[str, Any]) -> str:
    parts = [
        "# Speed beside other tools\n",
        "Written by `python -m benchmarks` (`pip install 'podium[bench]'` for the other tools). Contestants take "
        "turns; figures are medians of CPU seconds (wall where said), with the range that holds half of the repeats. "
        "A ratio is the best peer's time over podium's: above 1, podium is faster. Where a benchmark was run before, "
        "the ratio (or podium's time) of that run stands in the last column.\n",
        "![ratios](speed.svg)\n",
    ]
    for name, found in whole["benchmarks"].items():
        parts.append(f"## {name.replace('_', ' ')}\n")
        before = found.get("before", {"rows": []})
        earlier = f"; the run before: {before['at']} UTC, {before['processor']}" if before["rows"] else ""
        parts.append(f"{found['at']} UTC, {found['processor']}{', --quick' if found['quick'] else ''}{earlier}\n")
        parts.append("| what | podium | best peer | ratio | goal | met | before |\n|---|--:|--:|--:|---|---|--:|")
        known = {row["what"]: row for row in before["rows"]}
        notes = []
        for row in found["rows"]:
            ours = row["seconds"][OURS]
            best = f"{row['best_peer']} {_shown(row['seconds'][row['best_peer']])}" if row["best_peer"] else "–"
            ratio = _ratio(row)
            met = {True: "yes", False: "**no**", None: ""}[row["met"]]
            clock = " (wall)" if row["clock"] == "wall" else ""
            was = _ratio(known[row["what"]]) if row["what"] in known else "–"
            if was == "–" and row["what"] in known:
                was = _shown(known[row["what"]]["seconds"][OURS])
            parts.append(
                f"| {row['what']} | {_shown(ours)}{clock} | {best} | {ratio} | {row['goal']} | {met} | {was} |"
            )
            others = [
                f"{peer} {_shown(one)}" for peer, one in row["seconds"].items() if peer not in (OURS, row["best_peer"])
            ]
            absent = [f"{peer}: {why}" for peer, why in row["absent"].items() if why != "has no such loss"]
            more = "; ".join([*others, *absent, *([row["note"]] if row["note"] else [])])
            if more:
                notes.append(f"- {row['what']}: {more}")
        if "note" in found:  # of the whole run
            notes.append(f"- {found['note']}")
        parts.append("\n" + "\n".join(notes) + "\n" if notes else "")
    versions = next(iter(whole["benchmarks"].values()))["versions"]
    parts.append("Versions: " + ", ".join(f"{name} {one}" for name, one in versions.items() if one) + ".\n")
    return "\n".join(parts)


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


def _was(row: dict[str, Any] | None) -> str:
    """The ratio of an earlier run, or podium's time where it had no peer."""
    return "–" if row is None else _shown(row["seconds"][OURS]) if row["ratio"] is None else _ratio(row)


def _shown(found: dict[str, float]) -> str:
    unit, scale = next(
        (u, s) for u, s in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if found["median"] * s >= 1 or u == "µs"
    )
    low, median, high = (_digits(found[key] * scale) for key in ("low", "median", "high"))
    return f"{median} {unit} ({low}–{high})"


def _digits(number: float) -> str:
    return f"{number:.3g}" if number < 1e3 else f"{number:,.0f}"


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
