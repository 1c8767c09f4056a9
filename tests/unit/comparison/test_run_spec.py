"""A spec run from Python does what the command line does with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podium.base.errors import ComparisonError, DataError
from podium.comparison import Observer, TaskEvent, make_spec, run_spec
from podium.data import make_letor_like, split
from podium.formats import write_letor
from podium.metrics import Metric


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """Two datasets, one and two."""
    for k, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        made, _ = make_letor_like(30, (4, 8), n_features=5, seed=k)
        for part, cut in zip(("train", "vali", "test"), split(made), strict=True):
            write_letor(cut, tmp_path / name / f"{part}.txt")
    return [str(tmp_path / name) for name in ("one", "two")]


class Listing(Observer):
    """Lists what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def reading(self, name: str, place: str) -> None:
        self.told.append(f"reading {name}")

    def read(self, name: str, folds: list[object]) -> None:  # type: ignore[override]
        self.told.append(f"{name}: {len(folds)} fold")

    def task(self, event: TaskEvent) -> None:
        if event.ended:
            self.told.append(f"{event.task} {event.state}")

    def compared(self, name: str, comparison: object) -> None:
        self.told.append(f"compared {name}")


def test_every_dataset_has_a_comparison_and_the_folder_has_all_of_them(data: list[str], tmp_path: Path) -> None:
    spec = make_spec(data, ["random"], metrics=("map",), tune_by="p@1", output=str(tmp_path / "out"), jobs=1)
    listing = Listing()
    found = run_spec(spec, observer=listing)
    assert listing.told == [
        "reading one", "one: 1 fold", "one random done", "compared one",
        "reading two", "two: 1 fold", "two random done", "compared two",
    ]  # fmt: skip
    for name in ("one", "two"):
        assert found[name].tune_by == Metric.parse("p@1")
        assert found[name].dataset == name
        kept = json.loads((tmp_path / "out" / name / "results.json").read_text())
        assert kept == json.loads(json.dumps(found[name].to_dict()))
    assert set(json.loads((tmp_path / "out/results.json").read_text())["datasets"]) == {"one", "two"}
    again = Listing()
    run_spec(spec, observer=again)
    assert "one random kept" in again.told


def test_where_tasks_fail_the_error_carries_every_comparison(data: list[str], tmp_path: Path) -> None:
    train = tmp_path / "one/train.txt"
    train.write_text(train.read_text().replace(" 2:", " 2:nan #", 1))
    spec = make_spec(data, ["single-feature", "regression(transform=identity)"], metrics=("map",), jobs=1)
    with pytest.raises(ComparisonError, match=r"1 of 2 failed: one regression\(transform=identity\): ") as caught:
        run_spec(spec)
    assert {name: list(one.by_method) for name, one in caught.value.comparison.items()} == {
        "one": ["single-feature"],
        "two": ["single-feature", "regression(transform=identity)"],
    }


def test_a_folder_that_cannot_be_made_is_named(data: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/out: this folder cannot be made: Not a directory\."):
        run_spec(make_spec(data, ["random"], output=str(tmp_path / "file/out")))
