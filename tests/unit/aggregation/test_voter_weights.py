"""Voter weights: features by hand, learning from judged queries, and simulated metasearch."""

from dataclasses import replace

import numpy as np
import pytest

from podium.aggregation import Aggregator, VoterWeights, with_labels
from podium.aggregation.rankings.metasearch import make_metasearch
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.voter_weights import features
from podium.base.errors import DataError, IncompatibleError, UnknownNameError
from podium.evaluation.evaluate import evaluate_run
from podium.evaluation.significance import compare_systems
from podium.formats.trec.trec import Run


def test_features_are_presence_reciprocal_place_borda_share_and_score():
    rankings = Rankings.from_entries(
        list("qqqqq"),
        list("xxxyy"),
        list("ABCBC"),
        ranks=[1, 2, 2, 2, 1],
        scores=[9.0, 5.0, 5.0, 0.0, 4.0],
        voters=["x", "y"],
    )
    assert features(rankings.query(0), np.array([True, False])) == pytest.approx(
        np.array(
            [
                [1, 1, 3 / 3, 1, 0, 0, 0, 0],
                [1, 1 / 2.5, 1.5 / 3, 0, 1, 1 / 2, 1 / 2, 0],
                [1, 1 / 2.5, 1.5 / 3, 0, 1, 1 / 1, 2 / 2, 0],
            ]
        )
    )


def ndcg(qrels, run):
    return evaluate_run(qrels, run, ["ndcg@10"]).values[0]


def alone(rankings, voter):
    """One voter's lists as a run."""
    mine = (
        np.repeat(np.tile(np.arange(rankings.n_voters), rankings.n_queries), np.diff(rankings.entry_offsets)) == voter
    )
    sizes = np.diff(rankings.entry_offsets).reshape(-1, rankings.n_voters)
    query = np.repeat(np.arange(rankings.n_queries), sizes.sum(axis=1))
    documents = rankings.document_ids[rankings.offsets[query] + rankings.documents][mine]
    return Run(rankings.query_ids, np.cumsum([0, *sizes[:, voter]]), documents, rankings.scores[mine])


def test_in_simulated_metasearch_supervised_beats_unsupervised_and_both_beat_the_best_engine():
    train, judged = make_metasearch(60, seed=1)
    test, qrels = make_metasearch(300, seed=2)
    learned = VoterWeights().fit(with_labels(train, judged))
    best = max((alone(test, v) for v in range(test.n_voters)), key=lambda run: np.nanmean(ndcg(qrels, run)))
    values = [ndcg(qrels, run) for run in (learned(test).run(), Aggregator.parse("combsum")(test).run(), best)]
    found = compare_systems(values, ["supervised", "unsupervised", "engine"])
    assert list(found.systems) == ["supervised", "unsupervised", "engine"]
    assert found.letters == {"supervised": "a", "unsupervised": "b", "engine": "c"}
    assert (np.diff(learned.trust[:4]) < 0).all()  # the engines' noise rises


def test_ranks_alone_can_be_learned_from_and_then_scores_are_not_missed():
    train, judged = make_metasearch(30, seed=1)
    bare = replace(train, scores=np.full_like(train.scores, np.nan))
    learned = VoterWeights().fit(with_labels(bare, judged))
    assert not learned.scored.any()
    assert learned(train).scores.tolist() == learned(bare).scores.tolist()


def test_scores_that_were_learned_from_must_be_there():
    train, judged = make_metasearch(30, seed=1)
    learned = VoterWeights().fit(with_labels(train, judged))
    scores = train.scores.copy()
    scores[0] = np.nan
    with pytest.raises(IncompatibleError, match=r"^engine1: voter-weights was trained with the scores"):
        learned(replace(train, scores=scores))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ranknet", "lambdamart", "adarank-map", "recipe(loss=squared-hinge)"])
def test_any_method_of_the_library_can_be_the_one_that_learns(method):
    train, judged = make_metasearch(40, noises=(0.5, 3.0), seed=1)
    learned = VoterWeights(method=method).fit(with_labels(train, judged))
    assert learned.trust[0] > learned.trust[1]
    assert learned.trust.sum() == pytest.approx(1.0)
    assert repr(learned) == f"voter-weights(method={method})"


def test_only_judged_queries_are_learned_from():
    train, judged = make_metasearch(30, seed=1)
    some = dict.fromkeys([("q0", "d001"), ("q3", "d002")], 1.0)
    labelled = with_labels(train, some)
    known = ~np.isnan(labelled.labels)
    assert set(np.repeat(train.query_ids, np.diff(train.offsets))[known]) == {"q0", "q3"}
    assert VoterWeights().fit(labelled).record == {"queries": 2}
    assert VoterWeights().fit(with_labels(train, judged)).record == {"queries": 30}


def test_misuse_is_told():
    train, _ = make_metasearch(3, seed=1)
    with pytest.raises(DataError, match="voter-weights learns from grades, and the rankings have none"):
        VoterWeights().fit(train)
    with pytest.raises(UnknownNameError, match="No method 'borda'"):
        VoterWeights(method="borda")
