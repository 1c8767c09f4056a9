"""Speed beside other tools: podium and its peers take turns at the same work.

    python -m benchmarks [NAME …] [--quick] [-o docs/benchmarks]

Without names, all of them, which takes about an hour; --quick is a few minutes of small data, for a look. The figures
go to speed.md, speed.json and speed.svg in the folder; benchmarks that were not run keep their figures.
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path

from benchmarks import page
from benchmarks.contest import OURS, Row, run

NAMES = [
    "reading", "trec", "measures", "sweeps", "epochs", "lambdamart", "quality", "tuned", "scoring", "text",
    "clicks", "command_line", "service", "first_use",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small data and few repeats")
    parser.add_argument("-o", "--output", type=Path, help="a folder for the page; without it, figures are printed")
    asked = parser.parse_args()
    unknown = set(asked.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark {min(unknown)!r}; there are: {', '.join(NAMES)}")
    results: dict[str, list[Row]] = {}
    for name in asked.names or NAMES:
        print(f"== {name}", flush=True)
        results[name] = []
        for contest in importlib.import_module(f"benchmarks.{name}").contests(quick=asked.quick):
            start = time.perf_counter()
            row = run(contest, quick=asked.quick)
            results[name].append(row)
            show(row, time.perf_counter() - start)
        if asked.output is not None:
            page.write({name: results[name]}, asked.output, quick=asked.quick)


def show(row: Row, seconds: float) -> None:
    print(f"{row.what}  [{seconds:.0f} s]")
    for name, found in row.seconds.items():
        times = "" if name == OURS else f"  {found['median'] / row.seconds[OURS]['median']:8.2f} × podium's"
        print(f"   {name:24} {1e3 * found['median']:12.3f} ms{times}")
    for name, why in row.absent.items():
        print(f"   {name:24} {why}")
    verdict = {True: "met", False: "MISSED", None: ""}[row.met]
    print(f"   {row.goal}  {verdict}" if row.goal else "", row.note, sep="\n   ", flush=True)


if __name__ == "__main__":
    main()
