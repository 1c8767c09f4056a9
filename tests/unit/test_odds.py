import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.distributions import PlackettLuce, ReversePlackettLuce
from podium.distributions.temperature import fit_temperature
from podium.model import Model
from podium.testing import linear_data
from podium.training import train

PL, REVERSE = PlackettLuce(), ReversePlackettLuce()
DATA, VALID, TEST = (linear_data(20, 8, seed=seed) for seed in range(3))


def drawn(temperature, distribution=PL, *, queries=400, documents=15, seed=0):
    """Scores, and data whose grades 2, 1, 0 are the first 2, the next 4 and the last 9 of rankings of s/T."""
    rng = np.random.default_rng(seed)
    scores = 3.0 * rng.standard_normal((queries, documents))
    ranks = np.stack([distribution.sample(s / temperature, rng)[0] for s in scores])
    labels = np.select([ranks <= 2, ranks <= 6], [2.0, 1.0], 0.0)
    data = Dataset.from_arrays(np.zeros((queries * documents, 1)), labels.ravel(), group=np.full(queries, documents))
    return scores.ravel(), data


@pytest.mark.parametrize("distribution", [PL, REVERSE], ids=repr)
@pytest.mark.parametrize("temperature", [0.3, 2.0, 5.0])
def test_the_distribution_and_the_temperature_that_made_the_grades_are_found(temperature, distribution):
    found = fit_temperature(*drawn(temperature, distribution))
    assert found.distribution == distribution
    assert found.temperature == pytest.approx(temperature, rel=0.08)


def test_one_query_does_not_choose_the_distribution():
    """It is likelier under one of them, but by no more than a standard error."""
    for seed in range(6):
        scores, data = drawn(1.0, queries=1, seed=seed)
        for tried in ((REVERSE, PL), (PL, REVERSE)):
            assert fit_temperature(scores, data, tried=tried).distribution == tried[0]
    assert fit_temperature(scores, data).distribution == REVERSE


def test_the_temperature_makes_the_grades_likeliest():
    scores, data = drawn(1.0, queries=50)
    found = fit_temperature(scores, data, tried=(PL,)).temperature

    def cost(temperature):
        rows = zip(data.offsets[:-1], data.offsets[1:], strict=True)
        s, y = scores / temperature, data.labels
        imagined = np.logaddexp(0, scores.std() / temperature) + np.logaddexp(0, -scores.std() / temperature)
        return imagined - sum(PL.log_prob_of_grades(s[a:b], y[a:b]) for a, b in rows)

    assert cost(found) < min(cost(found * 1.05), cost(found / 1.05))


def test_the_unit_and_the_zero_of_scores_do_not_matter():
    scores, data = drawn(1.0, queries=30)
    found = fit_temperature(scores, data).temperature
    assert fit_temperature(1e6 * scores, data).temperature == pytest.approx(1e6 * found, rel=1e-3)
    assert fit_temperature(1e-6 * scores, data).temperature == pytest.approx(1e-6 * found, rel=1e-3)
    assert fit_temperature(scores + 100.0 * data.query_index, data).temperature == pytest.approx(found, rel=1e-3)


def test_equal_scores_have_any_temperature_and_equal_grades_have_none():
    _, data = drawn(1.0, queries=3)
    assert fit_temperature(np.ones(data.n_documents), data).temperature == 1.0
    assert fit_temperature(np.arange(45.0), dataclasses.replace(data, labels=np.ones(45))) is None


def test_a_few_queries_without_a_mistake_do_not_make_for_certainty():
    data = Dataset.from_arrays(np.zeros((2, 1)), [1, 0])
    few = fit_temperature(np.array([1.0, -1.0]), data).temperature
    assert 1 / (1 + math.exp(-2 / few)) < 0.95
    many = Dataset.from_arrays(np.zeros((200, 1)), np.tile([1, 0], 100), group=np.full(100, 2))
    assert fit_temperature(np.tile([1.0, -1.0], 100), many).temperature < 0.6 * few


def test_scores_that_mislead_get_odds_that_are_nearly_even():
    scores, data = drawn(1.0, queries=50)
    assert fit_temperature(-scores, data).temperature > 100 * scores.std()


def test_queries_count_by_their_weights():
    scores, data = drawn(1.0, queries=60)
    turned = np.where(data.query_index < 30, -scores, scores)
    weights = np.repeat([0.0, 1.0], 30)
    weighted = fit_temperature(turned, dataclasses.replace(data, query_weights=weights)).temperature
    alone = fit_temperature(scores[450:], data.select(np.arange(30, 60))).temperature
    assert weighted == pytest.approx(alone, rel=0.02)


def test_odds_say_where_they_are_from():
    for name in ("ranknet", "listmle", "pmop-fd"):
        odds = train(DATA, name, valid=VALID).distribution(TEST)
        name = {PL: "Plackett–Luce", REVERSE: "reverse Plackett–Luce"}[odds.distribution]
        assert odds.how == f"{name}, temperature {odds.temperature:.4g} fitted on validation data"


def test_odds_with_ties_are_the_models_own_and_given_on_request_only():
    model = train(DATA, "pairties-d", valid=VALID)
    plain, tied = model.distribution(TEST), model.distribution(TEST, with_ties=True)
    assert plain.distribution in (PL, REVERSE)
    np.testing.assert_array_equal(plain.scores, model.score(TEST) / model.info["temperature"])
    assert tied.distribution == model.learner.loss.rank_distribution()[0]
    assert tied.how.startswith("pairties-d's own distribution over rankings with ties, as trained; pairs are learned")
    assert tied.temperature is None
    np.testing.assert_array_equal(tied.scores, model.score(TEST))


@pytest.mark.parametrize("name", ["ranknet", "listmle", "rankboost"])
def test_a_model_without_ties_has_no_odds_with_ties(name):
    with pytest.raises(IncompatibleError, match="has no distribution over rankings with ties; pmop-"):
        train(DATA, name, valid=VALID).distribution(TEST, with_ties=True)


def test_without_validation_data_plackett_luce_is_used_as_trained_and_other_losses_raise():
    odds = train(DATA, "listmle").distribution(TEST)
    assert odds.how == ("Plackett–Luce, as trained by listmle: there was no validation data to fit a temperature on")
    np.testing.assert_array_equal(odds.scores, train(DATA, "listmle").score(TEST))
    for name in ("ranknet", "softrank", "rankboost", "listnet", "softmax"):
        with pytest.raises(IncompatibleError, match=r"is not the likelihood of a ranking.*--valid"):
            train(DATA, name).distribution(TEST)
    with pytest.raises(
        IncompatibleError, match="pmop-fd is the likelihood of rankings with ties, so its scores are not"
    ):
        train(DATA, "pmop-fd").distribution(TEST)
    assert train(DATA, "pmop-fd").distribution(TEST, with_ties=True).distribution.has_ties


def test_validation_data_of_one_grade_gives_no_temperature():
    even = dataclasses.replace(VALID, labels=np.ones(VALID.n_documents))
    model = train(DATA, "ranknet", valid=even)
    assert "temperature" not in model.info
    with pytest.raises(IncompatibleError, match="has seen none with two grades"):
        model.distribution(TEST)


def test_the_plackett_luce_network_has_the_temperature_of_its_weight():
    model = train(DATA, "recipe(loss=structrank(topology=plackett-luce))")
    odds = model.distribution(TEST)
    assert odds.distribution == PL
    np.testing.assert_allclose(odds.scores, np.exp(model.learner.loss.log_w1) * model.score(TEST))
    with pytest.raises(IncompatibleError, match="structrank is not the likelihood"):
        train(DATA, "recipe(loss=structrank)").distribution(TEST)


def test_a_query_answers_as_its_distribution_does():
    odds = train(DATA, "listmle").distribution(TEST)
    query, expected = odds[3], PlackettLuce()
    s = odds.scores[24:32]
    np.testing.assert_allclose(query.first, np.exp(s) / np.exp(s).sum())
    np.testing.assert_allclose(query.expected_rank, expected.rank_marginals(s) @ np.arange(1, 9))
    np.testing.assert_array_equal(query.rank_marginals(), expected.rank_marginals(s))
    np.testing.assert_array_equal(query.prefers(), expected.prefers(s))
    np.testing.assert_array_equal(query.interval(0.5)[:, 0], expected.summary(s, level=0.5).low)
    assert query.log_prob(np.arange(8)) == expected.log_prob(s, np.arange(8))
    drawn = query.sample(np.random.default_rng(0), 7)
    np.testing.assert_array_equal(drawn, expected.sample(s, np.random.default_rng(0), 7))


def test_all_queries_together_are_each_query_alone():
    odds = train(DATA, "listmle", valid=VALID).distribution(TEST)
    whole = odds.summary(0.8)
    assert len(odds) == TEST.n_queries
    np.testing.assert_array_equal(whole.first, np.concatenate([query.first for query in odds]))
    np.testing.assert_array_equal(whole.high, np.concatenate([query.interval(0.8)[:, 1] for query in odds]))
    np.testing.assert_array_equal(odds[-1].scores, odds[19].scores)
    with pytest.raises(IndexError):
        odds[20]


def test_queries_without_documents_have_no_odds():
    odds = train(DATA, "listmle").distribution(Dataset.from_arrays(TEST.features[:3], group=[0, 2, 0, 1]))
    assert odds.summary().first.shape == (3,)
    assert odds[3].first.tolist() == [1.0]


@pytest.mark.parametrize("wrong", [-1.0, 0.0, math.nan, math.inf, "warm", None, True, [1.0]])
def test_a_file_with_a_temperature_that_is_none_is_refused(tmp_path, wrong):
    model = train(DATA, "ranknet", valid=VALID)
    dataclasses.replace(model, info={**model.info, "temperature": wrong}).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"Its temperature is .*; a number from 1e-100 to 1e100 is expected"):
        Model.load(tmp_path / "m")


def test_what_is_known_of_a_model_is_read_only(tmp_path):
    model = train(DATA, "listnet", valid=VALID)
    with pytest.raises(TypeError):
        model.info["seed"] = 2
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.info == model.info
        assert copied.score(TEST).tobytes() == model.score(TEST).tobytes()


def test_a_model_does_not_see_later_changes_of_what_it_was_made_with():
    info = {"seed": 1}
    model = dataclasses.replace(train(DATA, "listnet"), info=info)
    info["seed"] = 2
    assert model.info["seed"] == 1


@pytest.mark.parametrize("wrong", ["thurstone", None, 3, "plackett-luce()x"])
def test_a_file_with_an_unknown_distribution_is_refused(tmp_path, wrong):
    model = train(DATA, "ranknet", valid=VALID)
    dataclasses.replace(model, info={**model.info, "distribution": wrong}).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"Its distribution is .*; reverse-plackett-luce or plackett-luce is"):
        Model.load(tmp_path / "m")
