"""From a log to the choice of a model: clicks alone choose the truly better one, at one page a query too."""

import pytest
from benchmarks.click_weights import choice, cosine

from podium.losses import Loss


@pytest.mark.slow
@pytest.mark.parametrize(("pages", "queries"), [(1, 2000), (5, 600), (50, 150)])
def test_validation_by_clicks_chooses_the_better_model(pages, queries):
    found = [choice(seed, pages, queries) for seed in range(3)]
    assert all(one.right for one in found)
    if pages == 1:  # what clicks of a query are divided by cancels their propensities
        assert not any(one.divided for one in found)


@pytest.mark.parametrize("name", ["softmax", "mallows", "softrank", "apprank"])
def test_weights_of_relevant_documents_teach_what_grades_teach(name):
    assert cosine(Loss.parse(name), binary=True, queries=20) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["ranknet", "listnet", "lambdarank", "listmle"])
def test_other_losses_with_weights_are_another_loss(name):
    """Two relevant documents are compared with each other too, in both directions."""
    assert 0.7 < cosine(Loss.parse(name), binary=True, queries=20) < 0.99
