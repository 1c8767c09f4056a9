"""Ratings from battles: closed forms, invariance, components, judges, groups, the next pair."""

import json
from itertools import permutations

import numpy as np
import pytest
from benchmarks.arena import battles as drawn

import podium
from podium.arena import Battles, next_pairs, rate, read_battles
from podium.arena.pair_laws import LAWS, Counts
from podium.arena.rank_intervals import critical_value, rank_intervals, standard_errors
from podium.base.errors import DataError, ParameterError, UnknownNameError

SIX = Battles.from_pairs(["ann"] * 6, ["bob"] * 6, ["a", "a", "a", "b", "tie", "tie"])


def simulated(strengths, n, *, rng, nu=0.0, judges=0):
    """Battles of random pairs by Davidson's law."""
    rows = dict(zip(("a", "b", "winner"), drawn(strengths, n, rng, nu), strict=True))
    if judges:
        rows["judge"] = [f"j{k}" for k in rng.integers(0, judges, n)]
    return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]


def test_davidson_has_its_closed_form():
    found = rate(SIX, prior=0.0)  # 3 wins, 1 loss, 2 ties: ratio 3/1, ν = 2/√(3·1)
    assert found.method == "davidson"
    assert np.exp(found.strengths[0] - found.strengths[1]) == pytest.approx(3.0)
    assert found.ties == pytest.approx(1.154701, abs=5e-7)


def test_rao_kupper_has_its_closed_form():
    found = rate(SIX, "rao-kupper", prior=0.0)
    assert np.exp(found.strengths[0] - found.strengths[1]) == pytest.approx(5**0.5)
    assert found.ties == pytest.approx(2.236068, abs=5e-7)


def test_bradley_terry_counts_ties_as_halves_and_says_so():
    found = rate(SIX, "bradley-terry", prior=0.0)
    assert np.exp(found.strengths[0] - found.strengths[1]) == pytest.approx(4 / 2)
    assert any("2 ties count as half a win for each" in note for note in found.notes)


def test_battles_of_two_have_one_rating_by_davidson_and_by_plackett_luce_with_ties():
    battles = simulated(np.linspace(-0.6, 0.6, 4), 60, rng=np.random.default_rng(1), nu=0.7)
    two, several = rate(battles), rate(battles, "plackett-luce")
    assert several.strengths == pytest.approx(two.strengths, abs=1e-6)
    assert several.ties == pytest.approx(two.ties, abs=1e-6)
    assert several.covariance == pytest.approx(two.covariance, abs=1e-5)
    assert several.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-6)


def test_battles_of_more_than_two_are_rated_with_their_ties():
    ranks = [(1, 2, 3), (1, 1, 2), (2, 1, 3), (1, 2, 2), (1, 3, 2)]
    rows = [{"battle": k, "player": "xyz"[i], "rank": r} for k, race in enumerate(ranks) for i, r in enumerate(race)]
    found = rate(rows)
    assert (found.method, found.law.name) == ("plackett-luce", "davidson")
    assert found.order.tolist() == [0, 1, 2]
    assert found.battles_of_players()[0].tolist() == [5, 5, 5]


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_derivatives_of_a_law_are_those_of_its_value(law):
    rng = np.random.default_rng(0)
    d, t, h = rng.normal(size=6), 0.4, 1e-5
    counts = Counts(*rng.uniform(0.5, 3.0, (3, 6)))
    found = law.derivatives(d, t, counts)

    def slope(which, at):
        up, down = law.derivatives(*at(h), counts), law.derivatives(*at(-h), counts)
        return (getattr(up, which) - getattr(down, which)) / (2 * h)

    by_d, by_t = (lambda h: (d + h, t)), (lambda h: (d, t + h))
    assert found.d == pytest.approx(slope("value", by_d), rel=1e-7, abs=1e-8)
    assert found.dd == pytest.approx(-slope("d", by_d), rel=1e-7, abs=1e-8)
    if law.has_ties:
        assert found.t == pytest.approx(slope("value", by_t), rel=1e-7, abs=1e-8)
        assert found.dt == pytest.approx(-slope("d", by_t), rel=1e-7, abs=1e-8)
        assert found.tt == pytest.approx(-slope("t", by_t), rel=1e-7, abs=1e-8)
        win, tie = law.probabilities(d, t)
        loss, _ = law.probabilities(-d, t)
        assert win + tie + loss == pytest.approx(np.ones(6))


def test_neither_the_order_of_battles_nor_that_of_sides_matters():
    rng = np.random.default_rng(2)
    rows = simulated(np.linspace(-1, 1, 6), 200, rng=rng, nu=0.5, judges=40)
    first = rate(rows)
    swapped = {"a": "b", "b": "a", "tie": "tie"}
    for _ in range(3):
        shuffled = [rows[k] for k in rng.permutation(len(rows))]
        turned = [{**row, "a": row["b"], "b": row["a"], "winner": swapped[row["winner"]]} for row in shuffled]
        for again in (rate(shuffled), rate(turned)):
            assert again.players == first.players
            assert again.strengths == pytest.approx(first.strengths, abs=1e-9)
            assert again.rows()[0][:2] == first.rows()[0][:2]
            assert again.rank_intervals[0].tolist() == first.rank_intervals[0].tolist()


def test_the_prior_is_half_a_win_and_half_a_loss_to_an_average_player():
    found = rate(Battles.from_pairs(["ann"], ["bob"], ["ann"]))
    d = found.strengths[0] - found.strengths[1]
    # by symmetry s = ±d/2: 1 − σ(d) + ½(1 − 2σ(d/2)) = 0
    assert 1 - 1 / (1 + np.exp(-d)) + 0.5 * (1 - 2 / (1 + np.exp(-d / 2))) == pytest.approx(0.0, abs=1e-9)
    assert "prior: each player also wins and loses half a battle against an average player" in found.notes


def test_components_that_no_battle_joins_are_named():
    parts = Battles.from_pairs(list("wxyz"), list("xwzy"), ["a"] * 4)
    assert any("not connected: no battle joins these 2 components" in note and "w, x; y, z" in note for note in
               rate(parts).notes)  # fmt: skip
    with pytest.raises(DataError, match=r"not connected.* w, x; y, z"):
        rate(parts, prior=0.0)


def test_a_player_that_never_loses_is_named():
    parts = Battles.from_pairs(list("xxyz"), list("yzzy"), ["a"] * 4)
    assert any("separated: x never lost or tied" in note for note in rate(parts).notes)
    with pytest.raises(DataError, match="separated: x never lost"):
        rate(parts, prior=0.0)


def test_strengths_are_recovered_and_intervals_cover_them():
    rng, truth = np.random.default_rng(5), np.linspace(-1, 1, 8)
    inside = []
    for _ in range(40):
        found = rate(simulated(truth, 400, rng=rng, nu=0.6), prior=0.0)
        low, high = found.intervals
        inside.append((low < truth) & (truth < high))
    assert 0.91 < np.mean(inside) < 0.985


def test_rank_intervals_are_those_of_the_definition():
    strengths, covariance = np.array([2.0, 0.0, 0.1]), np.diag([0.01, 0.01, 0.01])
    best, worst = rank_intervals(strengths, standard_errors(covariance), 2.0)
    assert best.tolist() == [1, 2, 2]
    assert worst.tolist() == [1, 3, 3]


def test_the_critical_value_of_two_players_is_that_of_the_normal_distribution():
    assert critical_value(np.diag([0.3, 0.7])) == pytest.approx(1.96, abs=0.06)
    three = critical_value(np.eye(3))  # Tukey's q of 3 means, 3.314/√2
    assert three == pytest.approx(2.344, abs=0.06)


def test_the_next_pair_has_the_largest_gain_and_is_not_asked_twice():
    found = rate(simulated(np.linspace(-1, 1, 5), 60, rng=np.random.default_rng(7)))
    pairs = next_pairs(found, 4)
    gains = []
    for a, b in permutations(range(5), 2):
        p = 1 / (1 + np.exp(found.strengths[b] - found.strengths[a]))
        v = found.covariance[a, a] + found.covariance[b, b] - 2 * found.covariance[a, b]
        gains.append(np.log(1 + p * (1 - p) * v))
    assert pairs[0].gain == pytest.approx(max(gains))
    assert len({(pair.a, pair.b) for pair in pairs}) == 4


def test_a_judge_who_answers_by_chance_is_noticed_and_counts_less():
    rng, truth = np.random.default_rng(3), np.linspace(-1.2, 1.2, 6)
    rows = simulated(truth, 1500, rng=rng, judges=5)
    for row in rows:
        if row["judge"] == "j0":
            row["winner"] = rng.choice(["a", "b"])
    alike, different = rate(rows), rate(rows, different_judges=True)
    assert alike.judges is not None
    assert alike.judges.by_chance == ["j0"]
    assert "intervals: Fisher's information (5 judges, too few for a sandwich covariance)" in alike.notes
    errors = [np.abs(found.strengths - truth).mean() for found in (alike, different)]
    assert errors[1] < errors[0]
    assert different.judges is not None
    assert abs(different.judges.slope[0]) < 0.3


def test_battles_of_one_judge_that_repeat_each_other_widen_intervals():
    rng = np.random.default_rng(4)
    rows = simulated(np.zeros(4), 60, rng=rng)
    copied = [{**row, "judge": f"j{k:02d}"} for k, row in enumerate(rows) for _ in range(9)]
    clustered = rate(copied, prior=0.0)
    alone = rate([{key: row[key] for key in ("a", "b", "winner")} for row in copied], prior=0.0)
    ratio = clustered.standard_errors / alone.standard_errors
    assert ratio == pytest.approx(3 * np.ones(4), rel=0.25)  # nine copies are no more than one


def test_intervals_of_plackett_luce_are_clustered_by_judge_as_those_of_davidson():
    rows = simulated(np.linspace(-0.6, 0.6, 4), 400, rng=np.random.default_rng(5), nu=0.6, judges=40)
    two, several = rate(rows), rate(rows, "plackett-luce")
    assert several.notes[-1] == "intervals: sandwich covariance, clustered by 40 judges"
    assert several.covariance == pytest.approx(two.covariance, abs=1e-5)


def test_races_keep_their_judge_group_and_weight_in_any_order_of_rows():
    rows = [
        {"battle": k, "player": player, "rank": place, "judge": f"j{k}", "group": f"g{k % 2}", "weight": k + 1.0}
        for k in range(12) for place, player in enumerate("xyz" if k % 2 else "zyx")
    ]  # fmt: skip
    for arranged in (rows, rows[::-1]):
        battles = podium.arena.battles.as_battles(arranged)  # battles are in the order of their names: 0, 1, 10, 11, 2
        names = [battles.judges.names[j] for j in battles.judges.of]
        assert names == ["j0", "j1", "j10", "j11", *(f"j{k}" for k in range(2, 10))]
        assert battles.weights.tolist() == [int(name[1:]) + 1.0 for name in names]
        assert rate(arranged).groups["g1"].players[rate(arranged).groups["g1"].order[0]] == "x"


def test_intervals_of_races_are_those_of_the_sandwich_formula():
    rng = np.random.default_rng(8)
    races = [rng.permutation(4)[:3] for _ in range(60)]
    rows = [
        {"battle": 3 * k + copy, "player": f"p{player}", "rank": place, "judge": f"j{k}"}
        for k, race in enumerate(races) for copy in range(3) for place, player in enumerate(race.tolist())
    ]  # fmt: skip
    clustered = rate(rows, prior=0.0)
    alone = rate([{key: row[key] for key in ("battle", "player", "rank")} for row in rows], prior=0.0)
    worths, scores = np.exp(clustered.strengths), np.zeros((60, 4))
    for score, race in zip(scores, races, strict=True):
        for place, player in enumerate(race):
            score[player] += 3
            score[race[place:]] -= 3 * worths[race[place:]] / worths[race[place:]].sum()
    expected = alone.covariance @ (scores.T @ scores) @ alone.covariance * 60 / 59
    assert clustered.strengths == pytest.approx(alone.strengths)
    assert clustered.covariance == pytest.approx(expected, rel=1e-5)


def test_groups_have_a_rating_each_and_there_is_one_over_all():
    rng = np.random.default_rng(6)
    rows = [{**row, "task": "code"} for row in simulated(np.array([1.0, 0.0, -1.0]), 150, rng=rng)]
    rows += [{**row, "task": "chat"} for row in simulated(np.array([-1.0, 0.0, 1.0]), 150, rng=rng)]
    found = rate(rows)
    assert list(found.groups) == ["chat", "code"]
    assert found.groups["code"].players[found.groups["code"].order[0]] == "p0000"
    assert found.groups["chat"].players[found.groups["chat"].order[0]] == "p0002"
    assert found.n_battles == 300
    assert abs(found.strengths).max() < 0.5


ROWS = [{"a": "1", "b": "2", "winner": "a"}, {"a": "2", "b": "3", "winner": "tie"}, {"a": "3", "b": "1", "winner": "b"}]


@pytest.mark.parametrize(
    "odd",
    [
        lambda f: f.set_index(np.array([7, 7, 7])),
        lambda f: f.astype("category"),
        lambda f: f.assign(a=f["a"].astype(int), b=f["b"].astype(int)),
        lambda f: f.rename(columns={"a": "model_a", "b": "model_b"}),
        lambda f: f[["winner", "b", "a"]],
        lambda f: f.assign(note=[None, object(), 3.5]),
        lambda f: f.iloc[::-1],
        lambda f: pytest.importorskip("polars").from_pandas(f),
        lambda f: pytest.importorskip("polars").from_pandas(f).lazy(),
        lambda f: pytest.importorskip("pyarrow").Table.from_pandas(f),
        lambda f: f.to_dict("records"),
    ],
)
def test_frames_of_any_kind_have_the_same_rating(odd):
    pd = pytest.importorskip("pandas")
    found = rate(odd(pd.DataFrame(ROWS)))
    assert found.players == ("1", "2", "3")
    assert found.strengths == pytest.approx(rate(ROWS).strengths)


@pytest.mark.parametrize(
    "odd",
    [
        lambda f: f.iloc[:0],
        lambda f: f.assign(a=[None, "2", "3"]),
        lambda f: f.assign(winner=["a", "c", 5]),
        lambda f: f.assign(weight=[1.0, np.nan, 1.0]),
        lambda f: f.assign(weight=[1.0, np.inf, 1.0]),
        lambda f: f.drop(columns="b"),
        lambda f: f["a"],
        lambda f: None,
    ],
)
def test_frames_that_are_no_battles_are_refused_in_words(odd):
    pd = pytest.importorskip("pandas")
    with pytest.raises(podium.base.errors.PodiumError):
        rate(odd(pd.DataFrame(ROWS)))


def test_elo_is_400_points_for_odds_of_ten():
    log, elo = rate(SIX), rate(SIX, scale="elo")
    assert elo.values == pytest.approx(1000 + 400 * np.log10(np.exp(log.strengths)))


def test_a_dump_of_an_arena_is_read_from_any_file(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "question_id": [1, 2, 3, 4],
            "model_a": ["x", "x", "y", "y"],
            "model_b": ["y", "z", "z", "x"],
            "winner": ["model_a", "tie (bothbad)", "model_b", None],
            "judge": ["u1", "u2", "u1", "u2"],
            "tstamp": [3.5, 1.0, 2.0, 9.0],
        }
    )
    frame.to_csv(tmp_path / "dump.csv", index=False)
    frame.to_json(tmp_path / "dump.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "dump.parquet")
    of_frame = podium.rate(frame)
    for name in ("dump.csv", "dump.jsonl", "dump.parquet"):
        battles = read_battles(tmp_path / name)
        assert battles.unfilled == 1
        assert (battles.n_battles, battles.players) == (3, ("x", "y", "z"))
        assert podium.rate(battles).strengths == pytest.approx(of_frame.strengths)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"a": "x", "b": "x", "winner": "a"}], "'x' meets itself"),
        ([{"a": "x", "b": "y", "winner": "z"}], "the winner is 'z'; expected a, b, tie, or the name"),
        ([{"a": "x", "b": "y", "winner": "tie"}], "every battle is a tie"),
        ([{"a": "x", "b": "y", "winner": None}], "no battles"),
        ([{"a": "x", "b": "y", "winner": "a", "weight": -1}], "the weight must be a number above 0"),
        ([{"a": "x", "b": "y", "winner": "a", "weight": 1e308}], "above 0, at most 1e.12; got 1e.308"),
        ([{"a": "x", "b": "y", "winner": "a", "weight": float("nan")}], "the weight must be a number above 0"),
        ([{"a": "b", "b": "y", "winner": "b"}], "a player's name, and a word for the other side"),
        ([{"x": "b", "y": "y"}], "no column 'a'"),
        ([{"battle": 1, "player": "x", "rank": 1}], "one player with a rank"),
        ([{"battle": 1, "player": "x", "rank": 1}] * 2, "is in battle '1' twice"),
    ],
)
def test_what_cannot_be_a_battle_is_refused_in_words(rows, words):
    with pytest.raises(DataError, match=words):
        rate(rows)


def test_unknown_laws_and_wrong_parameters_are_refused():
    with pytest.raises(UnknownNameError, match="No law of battles 'elo'"):
        rate(SIX, "elo")  # the order of battles would matter
    with pytest.raises(ParameterError, match="prior"):
        rate(SIX, prior=-1.0)
    with pytest.raises(ParameterError, match="level"):
        rate(SIX, level=95.0)
    with pytest.raises(ParameterError, match="name no judges"):
        rate(SIX, different_judges=True)
    three = [{"battle": 1, "player": name, "rank": k} for k, name in enumerate("abc")]
    with pytest.raises(DataError, match="davidson is for battles of two"):
        rate(three, "davidson")


def test_a_chain_of_wins_and_huge_weights_stay_finite():
    chain = Battles.from_pairs([f"p{k}" for k in range(80)], [f"p{k + 1}" for k in range(80)], ["a"] * 80)
    assert np.isfinite(rate(chain).rows()[0][2])
    heavy = [{"a": "x", "b": "y", "winner": w, "weight": 1e12} for w in ("a", "a", "b")]
    assert np.exp(np.diff(rate(heavy, prior=0.0).strengths))[0] == pytest.approx(0.5)


def test_a_rating_shows_itself():
    found = rate(SIX, scale="elo")
    assert repr(found).startswith("davidson: 6 battles of 2 players")
    assert "<table" in found._repr_html_()
    assert r"\toprule" in found.to_latex()
    assert found.to_frame()["player"].tolist() == ["ann", "bob"]
    assert json.loads(json.dumps(found.to_dict()))["players"][0]["player"] == "ann"


def test_no_player_of_equals_stands_out_by_few_judges():
    """40 simulations of 16 equal players, 30 judges: by the sandwich alone some pair differed in 12 of them."""
    rng, wrong, held = np.random.default_rng(8), 0, []
    for seed in range(40):
        found = rate(simulated(np.zeros(16), 400, rng=rng, judges=30), seed=seed)
        best, worst = found.rank_intervals
        wrong += bool((best > 1).any() or (worst < 16).any())
        low, high = found.intervals
        held.append(((low < 0) & (high > 0)).mean())
    assert wrong <= 2
    assert np.mean(held) >= 0.95


def test_errors_clustered_by_judge_are_at_least_those_of_fisher():
    rows = simulated(np.zeros(5), 300, rng=np.random.default_rng(2), judges=30)
    clustered = rate(rows)
    alone = rate([{key: row[key] for key in ("a", "b", "winner")} for row in rows])
    assert clustered.degrees == 29
    assert clustered.standard_errors == pytest.approx(
        np.sqrt(np.maximum(np.diag(clustered.covariance), np.diag(alone.covariance)))
    )
    assert (clustered.apart >= standard_errors(alone.covariance) - 1e-12).all()
    assert clustered.critical >= alone.critical
    wide = (clustered.intervals[1] - clustered.strengths) / clustered.standard_errors
    assert wide == pytest.approx(np.full(5, 2.04523), abs=1e-5)  # Student's quantile, 29 degrees of freedom


@pytest.mark.slow
def test_rank_intervals_of_near_equal_players_hold_for_all_at_once():
    """500 simulations of 8 players, 1,000 battles each: every true rank is within its interval in 95 % or more."""
    rng, truth = np.random.default_rng(11), np.linspace(0.05, -0.05, 8)
    held = 0
    for seed in range(500):
        found = rate(simulated(truth, 1000, rng=rng, nu=0.5), seed=seed)
        best, worst = found.rank_intervals
        held += bool(((best <= np.arange(1, 9)) & (np.arange(1, 9) <= worst)).all())
    assert held >= 475
