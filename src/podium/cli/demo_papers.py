"""`podium demo papers`: the specs of papers' tables on synthetic data of their shape with fewer documents; offline."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli import console

if TYPE_CHECKING:
    from podium.comparison import Spec
    from podium.data import Dataset

FEATURES = {"OHSUMED": 45, "Yahoo": 40, "AOL": 20}
"""Features of the data; of the .Gov sets 64. Yahoo's 519 would have thousands of products in a table of the demo."""
CLICKED = "AOL"
"""The data whose grades are click rates, here of a simulated log."""
_PAGES = 60  # of each query; click rates need more than 30
_QUERIES, _DOCUMENTS = 30, (8, 16)


def demo_papers(output: str, *, seed: int) -> None:
    """Run the spec of each paper's table on synthetic data, and print its table."""
    from podium.comparison.spec import papers, read_spec

    console.check_output(output)
    for name in papers():
        spec = read_spec(name)
        dataset = next(iter(spec.datasets))
        data = os.path.join(output, "data", dataset)
        _make_data(Path(data), FEATURES.get(dataset, 64), clicked=dataset == CLICKED, seed=seed)
        _run(name, replace(spec, datasets={dataset: data}, methods=tuple(map(_shorter, spec.methods)), seeds=(seed,)))
    console.out(
        f"\nThe data in {os.path.join(output, 'data')} is synthetic: these figures say nothing about the papers'."
        "\nWith the data of a paper:\n\n  podium compare paper:freno-2011-table-1 --data OHSUMED=PATH -o results"
    )


def _run(name: str, spec: Spec) -> None:
    from podium.cli.watching import Watching
    from podium.comparison import run_spec
    from podium.evaluation.report_texts import summary

    with Watching(spec, lambda *_: None) as watching, console.printed_warnings():
        [comparison] = run_spec(spec, observer=watching).values()
    heads, rows = summary(comparison)
    shown = min(len(comparison.metrics), 5) + 1
    console.out(f"\n{name}, on synthetic data of its shape")
    console.print_table(heads[:shown], [row[:shown] for row in rows])


def _shorter(method: str) -> str:
    """The method with fewer epochs, which tiny data does not need."""
    return method.replace("epochs=1000", "epochs=20")


def _make_data(folder: Path, features: int, *, clicked: bool, seed: int) -> None:
    """Write train, vali and test files, with grades 0 to 2 as in LETOR, or with click rates of simulated users."""
    from podium.data import make_letor_like, split
    from podium.formats import write_letor

    data, _ = make_letor_like(_QUERIES, _DOCUMENTS, n_features=features, seed=seed)
    assert data.labels is not None
    graded = _click_rates(data, seed=seed) if clicked else replace(data, labels=data.labels.clip(max=2.0))
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in zip(("train", "vali", "test"), split(graded, (0.6, 0.2, 0.2), seed=seed), strict=True):
        write_letor(part, folder / f"{name}.txt")


def _click_rates(data: Dataset, *, seed: int) -> Dataset:
    """The data with grades from clicks on pages in the order of its first feature."""
    from podium.base.arrays import dense
    from podium.clicks import labels, simulate

    log = simulate(data, [dense(data.features)[:, 0]], pages=_PAGES * data.n_queries, seed=seed)
    return labels(log, data, how="click-rate-grades").grouped()
