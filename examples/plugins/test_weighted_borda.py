import numpy as np
import pytest
from weighted_borda import WeightedBorda

from podium.aggregation import Borda, with_labels
from podium.aggregation.rankings.metasearch import make_metasearch
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import DataError, IncompatibleError
from podium.evaluation.evaluate import evaluate_run
from podium.testing.names import text_gives_it_back

VOTES = Rankings.from_orders([[["A", "B", "C"], ["C", "B", "A"]]], voters=["good", "bad"])


def test_its_text_gives_it_back():
    text_gives_it_back(WeightedBorda())


def test_weights_are_average_precisions_and_scores_the_weighted_points():
    learned = WeightedBorda().fit(with_labels(VOTES, {("0", "A"): 1.0, ("0", "B"): 2.0}))
    good, bad = (1 / 1 + 2 / 2) / 2, (1 / 2 + 2 / 3) / 2
    assert learned.trust == pytest.approx([good, bad])
    assert learned(VOTES).scores == pytest.approx([2 * good, good + bad, 2 * bad])


def test_it_beats_borda_on_new_queries_of_voters_of_unlike_quality():
    train, judged = make_metasearch(30, seed=1)
    test, qrels = make_metasearch(200, seed=2)
    learned = WeightedBorda().fit(with_labels(train, judged))
    values = [np.nanmean(evaluate_run(qrels, found(test).run(), ["ndcg@10"]).values[0]) for found in (learned, Borda())]
    assert values[0] > values[1] + 0.01


def test_rankings_without_grades_and_other_voters_are_refused():
    with pytest.raises(DataError, match="learns from grades"):
        WeightedBorda().fit(VOTES)
    learned = WeightedBorda().fit(with_labels(VOTES, {("0", "A"): 1.0}))
    with pytest.raises(IncompatibleError, match="trained on voters good, bad"):
        learned(Rankings.from_orders([[["A", "B"]]], voters=["other"]))
