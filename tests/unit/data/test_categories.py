"""Categories of data: codes by falling frequency, the same for 5, 5.0 and "5", and a model's codes for new data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from podium.base.errors import DataError
from podium.data.categories import aligned_categories, coded, with_categories
from podium.data.dataset import Dataset
from podium.data.frames import from_frame, to_frame
from podium.methods import method
from podium.metrics import Metric
from podium.training import fit, train
from podium.transforms import Identity, OneHot, TargetStatistics

FRAME = pd.DataFrame(
    {
        "qid": [1, 1, 2, 2, 2],
        "label": [1, 0, 2, 0, 1],
        "x": [1.0, 2.0, 3.0, np.nan, 5.0],
        "brand": ["a", "b", "b", None, "ü, c"],
        "size": [5, 5.0, 7, np.nan, 5],
    }
)
BRANDS = {"brand": ("b", "a", "ü, c"), "size": ("5", "7")}


def planted(n_queries: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = n_queries * 10
    brand = rng.integers(0, 12, n)
    label = np.digitize((brand % 3 == 0) + 0.3 * rng.normal(size=n), [0.5, 1.2])
    return pd.DataFrame(
        {"qid": np.repeat(np.arange(n_queries), 10), "label": label, "x": rng.normal(size=n), "brand": brand}
    ).assign(brand=[f"b{k}" for k in brand])


@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars", "pyarrow"])
def test_columns_of_every_library_have_the_same_codes(kind: str) -> None:
    frame: Any = FRAME
    if kind == "categorical":
        frame = FRAME.assign(brand=FRAME.brand.astype("category"))
    if kind == "polars":
        frame = pl.from_pandas(FRAME).with_columns(pl.col("brand").cast(pl.Categorical))
    if kind == "pyarrow":
        frame = pa.Table.from_pandas(FRAME, preserve_index=False)
        frame = frame.set_column(3, "brand", frame["brand"].dictionary_encode())
    data = from_frame(frame, categorical=["brand", "size"])
    assert data.categories == {1: BRANDS["brand"], 2: BRANDS["size"]}
    np.testing.assert_array_equal(data.features[:, 1], [1, 0, 0, np.nan, 2])
    np.testing.assert_array_equal(data.features[:, 2], [0, 0, 1, np.nan, 0])


def test_a_frame_of_the_data_has_the_text_back() -> None:
    back = to_frame(from_frame(FRAME, categorical=["brand"]))
    assert back["brand"].fillna("").tolist() == FRAME.brand.fillna("").tolist()


def test_new_data_has_the_codes_of_the_model_and_unseen_values_are_missing() -> None:
    new = from_frame(FRAME.assign(brand=["c", "ü, c", "a", "a", "a"]), categorical=["brand", "size"])
    moved = aligned_categories(new, {1: BRANDS["brand"], 2: BRANDS["size"]})
    np.testing.assert_array_equal(moved.features[:, 1], [np.nan, 2, 1, 1, 1])
    np.testing.assert_array_equal(moved.features[:, 2], [0, 0, 1, np.nan, 0])
    assert aligned_categories(moved, moved.categories) is moved
    with pytest.raises(DataError, match="the model was trained with numbers"):
        aligned_categories(new, {2: BRANDS["size"]})


def test_numbers_are_categories_that_are_numbers_and_codes_of_those_that_are_text() -> None:
    data = Dataset.from_arrays([[7.0, 2.0], [6.0, 9.0], [np.nan, 0.5]], group=[3])
    moved = aligned_categories(data, {0: ("5", "7"), 1: ("x", "y", "z")})
    np.testing.assert_array_equal(moved.features, [[1, 2], [np.nan, np.nan], [np.nan, np.nan]])


def test_features_of_a_matrix_become_categories_by_number() -> None:
    data = with_categories(Dataset.from_arrays([[3.0, 7.0], [4.0, 9.0], [5.0, 9.0]], group=[3]), ["2"])
    assert data.categories == {1: ("9", "7")}
    np.testing.assert_array_equal(data.features, [[3, 1], [4, 0], [5, 0]])
    with pytest.raises(DataError, match="no feature '3'"):
        with_categories(Dataset.from_arrays([[3.0, 7.0]], group=[1]), ["3"])


def test_too_many_categories_and_unknown_columns_are_refused() -> None:
    with pytest.raises(DataError, match="65536 categories; the most are 65535"):
        coded([str(k) for k in range(65_536)], what="id")
    with pytest.raises(DataError, match="no feature 'colour'"):
        from_frame(FRAME, categorical=["colour"])
    with pytest.raises(DataError, match=r"say categorical=\['brand'\] \(--categorical\)"):
        from_frame(FRAME)


def test_validation_data_gets_the_codes_of_the_training_data_and_frames_are_scored_by_text() -> None:
    whole = planted()
    first, second = whole[whole.qid < 30], whole[whole.qid >= 30]
    data = from_frame(first, categorical=["brand"])
    held = from_frame(second[::-1], categorical=["brand"])
    model = train(data, "lambdamart(rounds=5,num_leaves=4,min_data_per_group=5)", valid=held)
    assert model.info["valid"] > 0.85
    shuffled = second.sample(frac=1, random_state=0)
    expected = model.score(held)[::-1]
    np.testing.assert_array_equal(model.score(shuffled.drop(columns="label"))[np.argsort(shuffled.index)], expected)


@pytest.mark.parametrize("text", ["listnet(transform=one-hot)", "listnet(transform=target-statistics)"])
def test_linear_models_use_categories_as_numbers(text: str) -> None:
    from podium.evaluation.evaluate import evaluate

    whole = planted()
    first, second = whole[whole.qid < 30], whole[whole.qid >= 30]
    model = fit(
        method(text).learner, from_frame(first, categorical=["brand"]).grouped(), metric=Metric.parse("ndcg@10")
    )
    scores = model.score(second.drop(columns="label"))
    assert (
        evaluate(second.label.to_numpy(), scores, "ndcg@10", qid=second.qid.to_numpy()).means()["ndcg@10"].value > 0.85
    )


def test_a_missing_or_unseen_category_is_zero_in_all_indicators() -> None:
    data: Any = from_frame(FRAME, categorical=["brand", "size"]).grouped()
    transform = OneHot(of=Identity())
    moved = transform.apply(transform.fit(data), data)
    np.testing.assert_array_equal(moved.features[:, 1:4], [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]])
    assert moved.sources is not None
    assert moved.sources.feature.tolist() == [0, 1, 1, 1, 2, 2]


def test_statistics_of_a_training_document_do_not_change_with_its_label() -> None:
    from dataclasses import replace

    data: Any = from_frame(planted(6), categorical=["brand"]).grouped()
    transform = TargetStatistics(of=Identity())
    state = transform.fit(data)
    before = transform.training(state, data).features[:, 1]
    changed = 0
    for row in range(0, data.n_documents, 7):
        labels = data.labels.copy()
        labels[row] = 2.0 - labels[row] + 1.0
        flipped = replace(data, labels=labels)
        after = transform.training(transform.fit(flipped), flipped).features[:, 1]
        assert after[row] == before[row]
        changed += (after != before).any()
    assert changed > 5, "others see it"
    means = (np.bincount(data.features[:, 1].astype(int), data.labels) + 10 * data.labels.mean()) / (
        np.bincount(data.features[:, 1].astype(int)) + 10
    )
    np.testing.assert_allclose(
        transform.apply(state, data).features[:, 1], means[data.features[:, 1].astype(int)], rtol=1e-6
    )


def test_the_command_line_trains_on_categories_and_ranks_new_text(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from podium.cli.main import app

    whole = planted()
    whole[whole.qid < 30].to_csv(tmp_path / "train.csv", index=False)
    whole[whole.qid >= 30].to_csv(tmp_path / "test.csv", index=False)
    words = ["train", str(tmp_path / "train.csv"), "--method", "lambdamart(rounds=3,num_leaves=4,min_data_per_group=5)",
             "-o", str(tmp_path / "m.podium")]  # fmt: skip
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code != 0
    assert "--categorical" in refused.stderr
    result = CliRunner().invoke(app, [*words, "--categorical", "brand"])
    assert result.exit_code == 0, result.stderr
    assert "categories brand (12)" in result.stdout
    ranked = CliRunner().invoke(app, ["rank", str(tmp_path / "m.podium"), str(tmp_path / "test.csv")])
    assert len(set(ranked.stdout.split())) > 3, ranked.stderr
