"""Trees on categories: LightGBM's own decisions, to the bit, by splits of codes that every other part can take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.export import export
from podium.imports import import_model
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.scorers.trees.category_splits import Node, numeric_tree, sets_of
from podium.training import fit

NDCG = Metric.parse("ndcg@10")
VALUES = [*range(-3, 30), np.nan, 1000.0, 0.5, -0.5, -1.5, 3.99, 2.0**20]


def made_up(n_queries: int = 120) -> tuple[Any, Any, Any]:
    """Features and labels by a set of codes, whose order says nothing, and sizes of queries."""
    rng = np.random.default_rng(0)
    n = 10 * n_queries
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 24, n), rng.integers(0, 5, n)]).astype(np.float32)
    good = rng.permutation(24)[:9]
    y = np.digitize(np.isin(X[:, 1], good) + 0.4 * X[:, 0] + 0.4 * rng.normal(size=n), [0.5, 1.2])
    return X, y.astype(float), np.full(n_queries, 10)


X, Y, SIZES = made_up()
NUMBERS: Dataset = Dataset.from_arrays(X, Y, group=SIZES).grouped()
CODES = replace(NUMBERS, categories={1: tuple(f"b{k}" for k in range(24)), 2: tuple("abcde")})


@pytest.fixture(scope="module")
def model() -> Model:
    return fit(method("lambdamart(rounds=10,num_leaves=6,min_data_per_group=10)").learner, CODES, metric=NDCG)


@pytest.fixture(scope="module")
def theirs() -> Any:
    import lightgbm

    ranker = lightgbm.LGBMRanker(n_estimators=10, num_leaves=8, min_data_per_group=10, verbose=-1)
    return ranker.fit(X, Y.astype(int), group=SIZES, categorical_feature=[1, 2])


def test_an_imported_model_scores_every_code_as_lightgbm_to_the_bit(theirs: Any) -> None:
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=4000), rng.choice(VALUES, 4000), rng.choice(VALUES, 4000)])
    rows = rows.astype(np.float32)
    np.testing.assert_array_equal(import_model(theirs).score(rows), theirs.predict(rows))


@pytest.mark.parametrize("damage", [("cat_threshold=", "cat_threshold=9"), ("cat_boundaries=0", "cat_boundaries=5")])
def test_damaged_sets_are_refused(theirs: Any, damage: tuple[str, str]) -> None:
    text = theirs.booster_.model_to_string().replace(*damage)
    with pytest.raises(ModelFileError):
        import_model(text.encode())


def test_the_sets_of_a_text_are_the_bits_of_its_words() -> None:
    assert sets_of([0, 2, 3], [0b101, 1, 0b10]) == {0: [0, 2, 32], 1: [1]}


def test_a_side_that_no_value_reaches_is_left_out() -> None:
    again = Node(0, 0.0, 2, False, -2, -3, 1.0, [0, 1, 2])  # below the left side of the same set
    tree = numeric_tree([Node(0, 0.0, 2, False, 1, -1, 3.0, [0, 1, 2]), again])
    assert [split.threshold for split in tree.splits] == [float(np.nextafter(np.float32(3), np.float32(0))), -1.0]
    assert tree.leaves == [0, 1, 0]
    assert tree.cover([6.0, 5.0, 4.0]) == [3.0, 5.0, 3.0]
    assert [split.gain for split in tree.splits] == [3.0, 0.0]


def test_a_planted_set_is_found_by_trees_and_not_by_numbers(model: Model) -> None:
    from podium.evaluation.evaluate import evaluate

    test: Any = replace(CODES, labels=None)
    plain = fit(method("lambdamart(rounds=10,num_leaves=6)").learner, NUMBERS, metric=NDCG)
    found = [evaluate(Y, scores, "ndcg@5", group=SIZES).means()["ndcg@5"].value
             for scores in (model.score(test), plain.score(replace(NUMBERS, labels=None)))]  # fmt: skip
    assert found[0] > found[1] + 0.02


@pytest.mark.parametrize("name", ["c", "xgboost", "lightgbm", "elasticsearch-ltr"])
def test_every_export_of_a_model_with_categories_is_proved(model: Model, name: str, tmp_path: Any) -> None:
    assert export(model, name, tmp_path / "model").holds


def test_the_file_of_a_model_keeps_its_categories(model: Model, tmp_path: Any) -> None:
    model.save(tmp_path / "m.podium")
    back = Model.load(tmp_path / "m.podium")
    assert back.categories == CODES.categories
    np.testing.assert_array_equal(back.score(CODES), model.score(CODES))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("listnet", "these features have categories: 2, 3"),
        ("listnet(transform=identity)", "transform=one-hot or transform=target-statistics"),
        ("gbrank", "takes numbers"),
        ("lambdamart(rising=[2])", "no order to rise or fall with"),
    ],
)  # fmt: skip
def test_what_takes_numbers_only_refuses_categories(text: str, words: str) -> None:
    with pytest.raises((IncompatibleError, ValueError), match=words):
        fit(method(text).learner, CODES, metric=NDCG)


def test_files_of_numbers_do_not_lose_categories_silently(tmp_path: Any) -> None:
    from podium.formats import write_cache, write_letor

    with pytest.raises(DataError, match="no categories"):
        write_letor(CODES, tmp_path / "x.txt")
    with pytest.raises(DataError, match="no categories"):
        write_cache(CODES, tmp_path / "x.pod")
