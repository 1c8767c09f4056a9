"""Position bias learned along with boosted trees: LightGBM's numbers, a planted curve, where positions go."""

from dataclasses import replace

import lightgbm
import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.clicks import ClickLog, page_data
from podium.data.dataset import Dataset
from podium.formats.cache.cache import open_cache
from podium.losses import Loss
from podium.scorers import Trees
from podium.scorers.trees.grower import DETERMINISTIC
from podium.solvers import Boosting
from podium.transforms import Identity

TREES = Trees(num_leaves=5)


def clicked(n_queries: int, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Clicks on documents shown at positions drawn at random, examined with 1/position; and the graded data."""
    rng = np.random.default_rng(seed)
    graded = podium.make_letor_like(n_queries, (5, 10), n_features=4, seed=seed + 2)[0]
    shown = np.concatenate([rng.permutation(size) + 1 for size in graded.sizes])
    clicks = (rng.random(len(shown)) < (0.1 + 0.8 * graded.labels / 4) / shown).astype(float)
    some = np.flatnonzero(np.add.reduceat(clicks, graded.offsets[:-1]) > 0)
    return replace(graded, labels=clicks).with_positions(shown).select(some), graded


def trained(data: Dataset, solver: Boosting) -> podium.Model:
    return podium.train(data, podium.Recipe(Loss.parse("lambdarank(metric=ndcg)"), TREES, solver, Identity()), seed=1)


class Lines(list[str]):
    """What LightGBM logs."""

    def info(self, line: str) -> None:
        self.append(line)

    warning = debug = info


@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_bias_and_trees_are_those_of_lightgbm(penalty):
    data = clicked(60)[0]
    data = data.with_base_scores(0.1 * np.random.default_rng(3).normal(size=data.n_documents))  # no ties
    solver, lines = Boosting(rounds=20, learning_rate=0.1, position_penalty=penalty), Lines()
    model = trained(data, solver)
    settings = {
        **DETERMINISTIC, **solver.settings(TREES, np.random.default_rng(1)), "num_threads": 1, "verbosity": 2,
        "objective": "lambdarank", "lambdarank_norm": False, "sigmoid": 1.0, "label_gain": [0, 1],
        "lambdarank_position_bias_regularization": penalty,
    }  # fmt: skip
    theirs = lightgbm.Dataset(
        data.features, data.labels, group=data.sizes, position=data.positions, init_score=data.base_scores,
        params=settings,
    )  # fmt: skip
    lightgbm.register_logger(lines)
    try:
        booster = lightgbm.train(settings, theirs, 20)
    finally:
        lightgbm.register_logger(lightgbm.basic._DummyLogger())
    last = "".join(lines).rsplit("bias_factor", 1)[1].replace("[LightGBM] [Debug]", " ").split("Trained")[0].split()
    bias = {position: float(b) for position, b in zip(last[::2], last[1::2], strict=True)}
    assert booster.predict(data.features) == pytest.approx(model.score(data), abs=5e-5)
    for position, b in model.info["position_bias"].items():
        assert b == pytest.approx(bias[position] - bias["1"], abs=2e-5)  # LightGBM prints six digits


def test_a_planted_curve_is_learned_and_the_ranking_is_better_for_it():
    data, graded = clicked(600)
    solver = Boosting(rounds=60, learning_rate=0.1)
    with_bias, without = trained(data, solver), trained(replace(data, positions=None), solver)
    bias = [with_bias.info["position_bias"][str(position)] for position in range(1, 6)]
    assert bias == sorted(bias, reverse=True)
    values = [
        podium.evaluate(graded, model.score(graded), "ndcg").means()["ndcg"].value for model in (with_bias, without)
    ]
    assert values[0] > values[1]


def test_leaves_refitted_to_the_same_clicks_stay_as_they_are():
    data = clicked(60)[0]
    model = trained(data, Boosting(rounds=10, learning_rate=0.1))
    assert podium.refit(model, data, decay=0.0).score(data) == pytest.approx(model.score(data), abs=1e-9)
    naive = podium.refit(model, replace(data, positions=None), decay=0.0)
    assert np.abs(naive.score(data) - model.score(data)).max() > 0.01


def test_positions_stay_with_their_documents(tmp_path):
    data = clicked(20)[0]
    frame = podium.to_frame(data)
    assert podium.from_frame(frame).positions.tolist() == data.positions.tolist()
    podium.write_cache(data, tmp_path / "clicks.pod")
    assert open_cache(tmp_path / "clicks.pod").positions.tolist() == data.positions.tolist()
    assert data.select([1]).positions.tolist() == data.positions[data.offsets[1] : data.offsets[2]].tolist()
    assert data.digest() != replace(data, positions=None).digest()


def test_methods_that_cannot_leave_the_bias_out_refuse_positions():
    with pytest.raises(IncompatibleError, match="cannot leave out the bias of positions"):
        podium.train(clicked(20)[0], "listnet")


@pytest.mark.parametrize(
    ("positions", "words"), [([1, -1], "from 0 to 100000; got -1"), ([1, 0.5], "whole numbers"), ([1], "1 positions")]
)
def test_positions_that_are_wrong_are_refused_in_words(positions, words):
    with pytest.raises(DataError, match=words):
        Dataset.from_arrays(np.eye(2), [0, 1]).with_positions(positions)


def test_pages_of_a_log_are_queries_with_positions():
    data = Dataset.from_arrays([[1.0], [2.0], [3.0]], qid=["q", "q", "r"], document_ids=["a", "b", "a"])
    log = ClickLog.from_pages([("q", ["b", "x", "a"], [3]), ("r", ["a"], []), ("q", ["x"], [1])])
    pages = page_data(log, data)
    assert pages.sizes.tolist() == [2, 1]
    assert pages.features.ravel().tolist() == [2.0, 1.0, 3.0]
    assert pages.labels.tolist() == [0.0, 1.0, 0.0]
    assert pages.positions.tolist() == [1, 3, 1]
    with pytest.raises(DataError, match="shows no document of the data"):
        page_data(ClickLog.from_pages([("z", ["a"], [])]), data)
