"""Features as they are and scaled within their query, side by side."""

import numpy as np

from podium.data.dataset import Dataset
from podium.evaluation.evaluate import evaluate
from podium.explanation.explain import explain_rows
from podium.explanation.importance import importance
from podium.training import train
from podium.transforms import AddMinMax, MinMax


def shifted(queries=40, documents=12, seed=0):
    """Grades that follow from where a document stands in its query, not from the value itself."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((queries, documents, 3))
    labels = np.digitize(Z[:, :, 0], [0.0, 1.0]).ravel()
    X = (Z + 30 * rng.standard_normal((queries, 1, 3))).reshape(-1, 3)
    return Dataset.from_arrays(X, labels, group=np.full(queries, documents))


def test_both_stand_side_by_side():
    data = shifted()
    state = AddMinMax().fit(data)
    made = AddMinMax().features(state, data)
    np.testing.assert_array_equal(made, np.hstack([data.features, MinMax().features({}, data)]))
    assert AddMinMax().sources(state, 3).tolist() == [0, 1, 2, 0, 1, 2]


def test_what_is_scaled_already_is_not_added():
    data = shifted()
    scaled = MinMax().features({}, data)
    mixed = Dataset.from_arrays(np.column_stack([scaled[:, 0], data.features[:, 1]]), data.labels, group=data.sizes)
    state = AddMinMax().fit(mixed)
    assert state["added"].tolist() == [1]
    assert AddMinMax().features(state, mixed).shape == (len(scaled), 3)


def test_trees_learn_what_only_the_place_in_the_query_tells():
    data, test = shifted(), shifted(seed=1)
    found = []
    for transform in ("identity", "add-minmax"):
        model = train(data, f"lambdamart(transform={transform},rounds=30)")
        found.append(evaluate(test, model.score(test), "ndcg@10").means()["ndcg@10"].value)
    assert found[1] > found[0] + 0.1


def test_importances_and_explanations_are_of_the_features_that_were_given():
    data = shifted()
    model = train(data, "lambdamart(transform=add-minmax,rounds=30)")
    shares, _ = importance(model, data)
    assert shares.shape == (3,)
    assert shares.argmax() == 0
    found = explain_rows(model, data, 0, (0, 1))
    assert len(found.shares) == 3
    assert abs(found.rest) < 1e-9
