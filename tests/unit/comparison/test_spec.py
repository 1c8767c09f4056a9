"""Specs of comparisons: what a file may say, and what is said of one that is wrong."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from podium.base.errors import DataError, MissingPackageError, ParameterError, UnknownNameError
from podium.comparison.spec import METRICS, Spec, make_spec, papers, place_datasets, read_spec, write_spec

TOML = """
methods = ["listnet", "lambdamart(num_leaves=15)"]
metrics = ["map"]
tune_by = "ndcg@5"
preset = "letor3"
seeds = [0, 3]
search = "optuna(trials=5)"
output = "out"
jobs = 2
datasets = ["one", "../two.txt"]
"""
YAML = """
methods: [listnet, lambdamart(num_leaves=15)]
metrics: [map]
tune_by: ndcg@5
preset: letor3
seeds: [0, 3]
search: optuna(trials=5)
output: out
jobs: 2
datasets: {one: one, two.txt: ../two.txt}
"""


@pytest.mark.parametrize(("name", "text"), [("a.toml", TOML), ("a.yaml", YAML), ("a.yml", YAML)])
def test_paths_are_relative_to_the_file_and_nothing_is_lost(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / name).write_text(text)
    assert read_spec(tmp_path / "sub" / name) == Spec(
        datasets={"one": str(tmp_path / "sub/one"), "two.txt": str(tmp_path / "two.txt")},
        methods=("listnet", "lambdamart(num_leaves=15)"),
        metrics=("map",),
        tune_by="ndcg@5",
        preset="letor3",
        seeds=(0, 3),
        search="optuna(trials=5)",
        output=str(tmp_path / "sub/out"),
        jobs=2,
    )


def test_most_need_not_be_said(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('datasets = ["x"]\nmethods = ["all"]')
    spec = read_spec(tmp_path / "a.toml")
    assert (spec.metrics, spec.seeds, spec.search, spec.output, spec.jobs) == (METRICS, (0,), "grid", None, None)
    assert spec.tune_by == "ndcg@10"
    assert {"random", "listnet"} < set(spec.methods)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('methods = ["listnet"]', "a.toml: datasets: is missing."),
        ('datasets = ["x"]\nmetods = ["listnet"]', "a.toml: No key 'metods'. Did you mean 'methods'"),
        ('datasets = ["x"]\nmethods = ["lisnet"]', r"a.toml: methods: No method 'lisnet'. Did you mean 'listnet'"),
        ('datasets = ["x"]\nmethods = []', "a.toml: methods: At least one method is needed"),
        ('datasets = []\nmethods = ["listnet"]', "a.toml: datasets: at least one is needed."),
        ('datasets = ["x", "y/x"]\nmethods = ["listnet"]', "a.toml: datasets: two are called 'x'"),
        ('methods = ["listnet"]\n[datasets]\n"../x" = "y"', r"a.toml: datasets: '\.\./x' cannot name a folder"),
        ('datasets = ["x"]\nmethods = "listnet"', "a.toml: methods: must be a list of texts; got 'listnet'"),
        ('datasets = ["x"]\nmethods = ["random"]\nseeds = [true]', r"a.toml: seeds: must be a list of whole numbers"),
        (
            'datasets = ["x"]\nmethods = ["random"]\nseeds = [-1]',
            "a.toml: seeds: At least one seed is needed",
        ),
        ('datasets = ["x"]\nmethods = ["random"]\njobs = 0', "a.toml: jobs: At least one job is needed; got 0"),
        ('datasets = ["x"]\nmethods = ["random"]\nmetrics = ["ndgc"]', "a.toml: metrics: No metric 'ndgc'"),
        ('datasets = ["x"]\nmethods = ["random"]\ntune_by = "ndgc"', "a.toml: tune_by: No metric 'ndgc'"),
        ('datasets = ["x"]\nmethods = ["random"]\nsearch = "gird"', "a.toml: search: No tuning 'gird'"),
        ("datasets = [", "a.toml: not TOML: Invalid value"),
    ],
)
def test_what_is_wrong_is_said_of_its_key(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ParameterError, match=words):
        read_spec(tmp_path / "a.toml")


def test_yaml_is_data_and_never_code(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("datasets: !!python/object/apply:os.getcwd []")
    with pytest.raises(ParameterError, match=r"a.yaml: not YAML: could not determine a constructor"):
        read_spec(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("- listnet")
    with pytest.raises(ParameterError, match="expected keys and values"):
        read_spec(tmp_path / "a.yaml")


def test_yaml_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text(YAML)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingPackageError, match=r"A spec in YAML needs PyYAML.*podium\[tune\]"):
        read_spec(tmp_path / "a.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a.toml: cannot be read: No such file"):
        read_spec(tmp_path / "a.toml")


def test_what_is_written_says_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    spec = make_spec(
        {"ünlike \"names\"": str(tmp_path / "data/x")}, ["listnet(scorer=mlp(hidden=[4]))"],
        metrics=("ndcg@5[trec]",), seeds=(1, 2), search="optuna(trials=3)", output=str(tmp_path / "out"),
    )  # fmt: skip
    write_spec(spec)
    assert read_spec(tmp_path / "out/spec.toml") == spec
    assert "data/x" in (tmp_path / "out/spec.toml").read_text()
    assert str(tmp_path) not in (tmp_path / "out/spec.toml").read_text()


@pytest.mark.parametrize("name", papers())
def test_the_spec_of_a_paper_is_sound_and_waits_for_its_data(name: str) -> None:
    spec = read_spec(name)
    assert set(spec.datasets.values()) == {""}
    with pytest.raises(ParameterError, match=f"Say where the data is: --data {next(iter(spec.datasets))}=PATH"):
        place_datasets(spec, {})


def test_datasets_whose_place_nobody_says_are_left_out() -> None:
    spec = read_spec("paper:li-2011-tables-2.10-2.16")
    assert place_datasets(spec, {"NP2003": "a", "OHSUMED": "b"}).datasets == {"NP2003": "a", "OHSUMED": "b"}
    with pytest.raises(UnknownNameError, match="No dataset 'MQ2007'"):
        place_datasets(spec, {"MQ2007": "a"})


def test_the_place_of_a_dataset_replaces_that_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('methods = ["listnet"]\n[datasets]\nx = "here"\ny = ""\n')
    spec = read_spec(tmp_path / "a.toml")
    assert place_datasets(spec, {}).datasets == {"x": str(tmp_path / "here")}
    assert place_datasets(spec, {"x": "there", "y": "-"}).datasets == {"x": "there", "y": "-"}


def test_an_unknown_paper_is_named_with_those_that_are_there() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'paper:huang-2008-figure-4'"):
        read_spec("paper:huang-2008-figure-5")


BOMB = "methods: [&a [x, x, x, x, x, x, x, x, x, x], " + ", ".join(
    f"&{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in itertools.pairwise("abcdefghijkl")
)


@pytest.mark.parametrize(
    ("ending", "text"),
    [(".toml", "methods = " + "[" * 5000), (".toml", "methods = [" + "9" * 5000 + "]"), (".yaml", BOMB + "]"),
     (".yaml", "methods: " + "[" * 5000), (".yaml", "seeds: [" + "9" * 5000 + "]"), (".yaml", "by: 2001-99-99"),
     (".yaml", "seeds: [0b_]"), (".yaml", "methods: &a [*a]")],
)  # fmt: skip
def test_a_hostile_file_is_refused_at_once_and_in_few_words(ending: str, text: str, tmp_path: Path) -> None:
    (tmp_path / f"spec{ending}").write_text(text)
    with pytest.raises(ParameterError) as caught:
        read_spec(tmp_path / f"spec{ending}")
    assert len(str(caught.value)) < 5000
