"""What a ranker is worth: estimates against a planted truth, over and over."""

from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.clicks.simulate import simulate
from podium.counterfactual import LOGGED, cross_fitted, value
from podium.data import make_letor_like
from podium.distributions import PlackettLuce
from podium.formats.trec.trec import Run
from reference.counterfactual import dcg_weights, page_values

QUERIES, DOCUMENTS, SHOWN, PAGES, REPEATS = 10, 8, 5, 2000, 200
NAMES = [f"d{d}" for d in range(DOCUMENTS)]
THETA = 1.0 / np.arange(1, SHOWN + 1)
CURVE = Propensities.of_theta(THETA, how="planted")


class Planted:
    """People with a known taste, and a ranker that draws its pages from Plackett–Luce."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.relevance = rng.uniform(0.05, 0.9, (QUERIES, DOCUMENTS))
        self.logging = 0.7 * rng.standard_normal((QUERIES, DOCUMENTS))
        self.scores = self.relevance + 0.2 * rng.standard_normal((QUERIES, DOCUMENTS))
        marginals = [PlackettLuce().rank_marginals(s)[:, :SHOWN] for s in self.logging]
        self.placement = np.concatenate(marginals)  # pairs are sorted by query and document
        place = np.argsort(np.argsort(-self.scores, axis=1), axis=1) + 1
        self.truth = (self.relevance / np.log2(place + 1)).sum() / QUERIES

    def run(self, scores):
        return Run.from_dict({f"q{q}": dict(zip(NAMES, row, strict=True)) for q, row in enumerate(scores)})

    def log(self, rng, pages=PAGES):
        query = np.arange(pages) % QUERIES
        order = np.argsort(-self.logging[query] - rng.gumbel(size=(pages, DOCUMENTS)), axis=1)[:, :SHOWN]
        clicks = rng.random((pages, SHOWN)) < THETA * self.relevance[query[:, None], order]
        return ClickLog.from_codes(
            (query, [f"q{q}" for q in range(QUERIES)]),
            (order.ravel(), NAMES),
            offsets=np.arange(pages + 1) * SHOWN,
            clicks=clicks.ravel().astype(np.uint8),
        )


@pytest.fixture(scope="module")
def planted():
    return Planted(0)


@pytest.fixture(scope="module")
def repeated(planted):
    """(value, low, high) of every estimator in each of many repetitions."""
    rng = np.random.default_rng(1)
    ranker = {"new": planted.run(planted.scores)}
    good, bad = planted.run(planted.relevance + 0.02), planted.run(np.full((QUERIES, DOCUMENTS), 0.2))
    ones = Propensities.of_theta(np.ones(SHOWN), how="none")
    settings = {
        "ips": {"how": "ips", "placement": planted.placement},
        "snips": {"how": "snips", "placement": planted.placement},
        "dr, good r̂": {"how": "dr", "relevance": good, "placement": planted.placement},
        "dr, bad r̂": {"how": "dr", "relevance": bad, "placement": planted.placement},
        "dm": {"how": "dm", "relevance": good},
        "ips, placement from the log": {"how": "ips"},
        "naive": {"how": "ips", "propensities": ones, "placement": np.full((QUERIES * DOCUMENTS, SHOWN), 1 / SHOWN)},
    }
    found = {name: [] for name in settings}
    for _ in range(REPEATS):
        log = planted.log(rng)
        for name, how in settings.items():
            one = value(log, ranker, **{"propensities": CURVE, "discount": "dcg", "clip": 0.0} | how)["new"]
            found[name].append((one.value, one.low, one.high))
    return {name: np.array(rows) for name, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ips", "snips", "dr, good r̂", "dr, bad r̂", "ips, placement from the log"])
def test_estimates_are_unbiased_and_their_intervals_hold_the_truth_as_often_as_they_say(how, repeated, planted):
    values, low, high = repeated[how].T
    assert abs(values.mean() - planted.truth) < 2 * values.std() / np.sqrt(REPEATS)
    assert 0.92 <= ((low <= planted.truth) & (planted.truth <= high)).mean() <= 0.98


@pytest.mark.parametrize("how", ["dm", "naive"])
def test_a_wrong_guess_alone_and_clicks_alone_are_biased(how, repeated, planted):
    values, low, high = repeated[how].T
    assert abs(values.mean() - planted.truth) > 10 * values.std() / np.sqrt(REPEATS)
    if how == "naive":
        assert not ((low <= planted.truth) & (planted.truth <= high)).any()


@pytest.mark.parametrize(
    ("how", "shrinkage"),
    [("ips", None), ("snips", None), ("dm", None), ("dr", None), ("sndr", None), ("switch", 1.1), ("dros", 0.8),
     ("sub-gaussian", 0.4)],
)  # fmt: skip
def test_estimators_are_their_formulas_with_clipping_and_trust_bias(how, shrinkage):
    rng = np.random.default_rng(3)
    names = list("abcdef")
    pages = [
        (f"q{rng.integers(3)}", list(rng.permutation(names)[:4]), [k for k in range(1, 5) if rng.random() < 0.4])
        for _ in range(40)
    ]
    run = {f"q{q}": {name: float(rng.random()) for name in names} for q in range(3)}
    guess = {query: {name: float(rng.random()) for name in names} for query in run}
    alpha, beta = np.array([0.9, 0.6, 0.3, 0.2]), np.array([0.1, 0.1, 0.05, 0.0])
    curve = replace(Propensities.of_theta(alpha + beta, how="planted"), alpha=alpha, beta=beta)
    views = {query: sum(page[0] == query for page in pages) for query in run}
    rho = {
        (query, name): sum(alpha[page[1].index(name)] for page in pages if page[0] == query and name in page[1])
        / views[query]
        for query in run
        for name in names
    }
    clip = float(np.median(list(rho.values())))
    found = value(
        ClickLog.from_pages(pages), {"new": run}, propensities=curve, how=how, discount="dcg@5", clip=clip,
        relevance=guess, shrinkage=shrinkage,
    )["new"]  # fmt: skip
    flat = {(query, name): r for query, row in guess.items() for name, r in row.items()}
    rows = np.array(page_values(how, pages, dcg_weights(run, 5), alpha, beta, rho, flat, clip, shrinkage or 0.0))
    assert found.value == pytest.approx(rows[:, 0].sum() / rows[:, 1].sum() + rows[:, 2].mean(), rel=1e-12)
    if how != "dm":
        omega = dcg_weights(run, 5)
        low = sum(views[q] * w for q in run for d, w in omega[q].items() if 0 < rho[q, d] < clip)
        assert found.clipped == pytest.approx(low / sum(views[q] * sum(omega[q].values()) for q in run))


def test_equal_rankers_tie_and_a_worse_one_loses(planted):
    log = planted.log(np.random.default_rng(5))
    best, same, worst = planted.run(planted.relevance), planted.run(3 * planted.relevance), planted.run(-planted.scores)
    found = value(log, {"best": best, "same": same, "worst": worst}, propensities=CURVE, discount="dcg")
    tie, loss = found.difference("best", "same"), found.difference("worst", "best")
    assert (tie.value, tie.low, tie.high, tie.p) == (0.0, 0.0, 0.0, 1.0)
    assert not tie.significant
    assert "no significant difference" in tie.sentence()
    assert loss.value == -found.difference("best", "worst").value < 0
    assert loss.high < 0
    assert loss.sentence().startswith("best is worth more than worst")
    assert found.difference("best").low > 0  # than what was shown
    assert found.difference("best").value == pytest.approx(found["best"].value - found[LOGGED].value)


def test_a_paired_difference_is_surer_than_two_values(planted):
    log = planted.log(np.random.default_rng(6))
    near = planted.relevance.copy()
    near[:, [0, 1]] = near[:, [1, 0]]
    runs = {"a": planted.run(planted.relevance), "b": planted.run(near)}
    found = value(log, runs, propensities=CURVE, how="ips", discount="dcg")
    apart = np.hypot(found["a"].standard_error, found["b"].standard_error)
    pair = found.difference("a", "b")
    assert pair.high - pair.low < 0.8 * 2 * 1.96 * apart


def test_what_the_log_showed_is_worth_its_mean_over_pages(planted):
    rng = np.random.default_rng(7)
    order = np.argsort(np.argsort(-planted.logging, axis=1), axis=1) + 1
    marginals = planted.placement.reshape(QUERIES, DOCUMENTS, SHOWN)
    truth = np.einsum("qdk,qd,k->", marginals, planted.relevance, 1 / np.log2(np.arange(2, SHOWN + 2))) / QUERIES
    found = value(
        planted.log(rng, 20000), {"new": planted.run(-order.astype(float))}, propensities=CURVE, how="ips"
    )[LOGGED]  # fmt: skip
    assert abs(found.value - truth) < 3 * found.standard_error < 0.1


def test_nothing_is_significant_where_much_of_a_ranker_was_never_shown(planted):
    log = planted.log(np.random.default_rng(8))
    best, worst = planted.run(planted.relevance), planted.run(-planted.relevance)
    unseen = {f"q{q}": {f"new{d}": 9.0 - d for d in range(2)} | dict.fromkeys(NAMES, 0.0) for q in range(QUERIES)}
    found = value(log, {"unseen": unseen, "best": best, "worst": worst}, propensities=CURVE, discount="dcg")
    share = (1 + 1 / np.log2(3)) / (1 / np.log2(np.arange(2, DOCUMENTS + 4))).sum()
    assert found["unseen"].never_shown == pytest.approx(share)
    pair = found.difference("best", "unseen")
    assert pair.p < 1e-9
    assert not pair.significant
    assert f"{100 * share:.0f} %" in pair.sentence()
    assert found.difference("best", "worst").significant


def test_pages_of_one_person_are_one_observation(planted):
    log = planted.log(np.random.default_rng(9), 400)
    given = {"propensities": CURVE, "how": "ips", "clip": 0.0, "placement": planted.placement}
    run = {"new": planted.run(planted.scores)}
    plain = value(log, run, **given)["new"]
    folded = value(replace(log, counts=np.full(400, 3.0)), run, **given)["new"]
    assert folded.value == pytest.approx(plain.value)
    assert folded.standard_error == pytest.approx(plain.standard_error / np.sqrt(3), rel=0.01)
    thrice = log.select(np.repeat(np.arange(400), 3))
    users = np.repeat(np.arange(400, dtype=np.int32), 3)
    grouped = value(replace(thrice, users=users), run, **given)
    assert grouped.users == 400
    assert grouped["new"].standard_error == pytest.approx(plain.standard_error, rel=0.01)


def test_a_ranker_that_draws_its_lists_has_expected_discounts(planted):
    log = planted.log(np.random.default_rng(10), 100)
    law = PlackettLuce()
    found = value(
        log, {"drawn": planted.run(planted.logging)}, propensities=CURVE, how="dm", distribution=law, discount="dcg",
        relevance=planted.run(planted.relevance),
    )["drawn"]  # fmt: skip
    discounts = 1 / np.log2(np.arange(2, DOCUMENTS + 2))
    weights = np.array([law.rank_marginals(s) @ discounts for s in planted.logging])
    assert found.value == pytest.approx((weights * planted.relevance).sum() / QUERIES)


def test_examination_gives_the_clicks_that_people_would_make():
    pages = [("q", ["a", "b"], [1]), ("q", ["b", "a"], []), ("q", ["a", "b"], [1, 2])]
    alpha, beta = np.array([0.8, 0.4]), np.array([0.1, 0.05])
    curve = replace(Propensities.of_theta([1.0, 0.5], how="planted"), alpha=alpha, beta=beta)
    found = value(
        ClickLog.from_pages(pages), {"as before": {"q": {"a": 2.0, "b": 1.0, "c": 0.0}}}, propensities=curve,
        how="ips", discount="examination",
    )  # fmt: skip
    a = (0.9 + 0.9 - 0.05) / (0.8 + 0.8 + 0.4)
    b = (-0.05 + 0.95 - 0.1) / (0.4 + 0.4 + 0.8)
    assert found["as before"].value == pytest.approx(0.8 * a + 0.1 + 0.4 * b + 0.05)
    assert found[LOGGED].value == pytest.approx(3 / 3)  # clicks a page
    assert found["as before"].never_shown == 0.0  # c is below the ranks that people are known to look at


def test_relevance_is_guessed_for_queries_and_pages_that_the_model_has_not_seen():
    data, _ = make_letor_like(30, (8, 12), n_features=8, seed=2)
    rng = np.random.default_rng(0)
    log = simulate(data, [rng.standard_normal(data.n_documents) for _ in range(3)], pages=3000, seed=1)
    curve = Propensities.of_theta(1.0 / np.arange(1, 13), how="planted")
    truth = 0.1 + 0.9 * data.labels / data.labels.max()
    by_features = cross_fitted(data, log, propensities=curve)
    assert np.corrcoef(by_features.scores, truth)[0, 1] > 0.4
    run, given = {"best": Run.from_scores(data, data.labels)}, {"propensities": curve, "discount": "dcg"}
    worth = value(log, run, how="dm", relevance=Run.from_scores(data, truth), **given)["best"].value
    for relevance in ("pbm", by_features):
        found = value(log, run, how="dr", relevance=relevance, **given)["best"]
        assert found.low < worth < found.high
        guessed = value(log, run, how="dm", relevance=relevance, **given)["best"].value
        assert abs(found.value - worth) < abs(guessed - worth)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"how": "dre"}, ParameterError, "Did you mean 'dr'"),
        ({"discount": "ndcg@10"}, ParameterError, "Known: dcg"),
        ({"clip": 1.0}, ParameterError, "clip must be"),
        ({"confidence": 95}, ParameterError, "confidence must be between"),
        ({"placement": np.ones((3, 3))}, ParameterError, "placement must give each"),
        ({"rankers": {"other": {"q77": {"a": 1.0}}}}, DataError, "Are the ids those of the log"),
        ({"how": "dm", "relevance": {"q0": {"d0": 2.0}}}, DataError, "probabilities from 0 to 1"),
        ({"how": "dm", "relevance": {"q0": {"d0": 0.2}}}, DataError, "gives no probability to document 'd1'"),
    ],
)
def test_what_cannot_be_estimated_is_an_error_in_words(planted, change, error, words):
    given = {"rankers": {"new": planted.run(planted.scores)}, "propensities": CURVE} | change
    with pytest.raises(error, match=words):
        value(planted.log(np.random.default_rng(0), 50), given.pop("rankers"), **given)


def test_a_log_of_single_documents_is_refused():
    log = ClickLog.from_pages([("q", ["a"], [1]), ("q", ["b"], [])])
    log = replace(log, positions=np.array([1, 2], np.int32))
    with pytest.raises(DataError, match="Give whole pages"):
        value(log, {"new": {"q": {"a": 1.0}}}, propensities=CURVE, how="ips")


def test_one_page_has_no_interval():
    log = ClickLog.from_pages([("q", ["a", "b"], [1])])
    with pytest.raises(DataError, match="at least two pages"):
        value(log, {"new": {"q": {"a": 1.0}}}, propensities=CURVE, how="ips")
