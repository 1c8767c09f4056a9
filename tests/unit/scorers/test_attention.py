"""Self-attention: what it sees, what it equals, and what it can learn that a scorer of rows cannot."""

import importlib.util

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.export import Target
from podium.metrics import NDCG, evaluate_all
from podium.model import Model
from podium.scorers import Attention, Linear
from podium.training import train

SIZES = [1, 7, 0, 7, 30]


def queries(seed=0, d=3):
    X = np.random.default_rng(seed).standard_normal((sum(SIZES), d))
    return Dataset.from_arrays(X, np.arange(len(X)) % 3, group=SIZES)


def fitted(scorer, d=3):
    rng = np.random.default_rng(1)
    return {"theta": scorer.init(d, rng) + 0.2 * rng.standard_normal(scorer.n_params(d))}


@pytest.mark.parametrize("scorer", [Attention(), Attention(width=6, heads=3, blocks=2, hidden=5)], ids=repr)
def test_documents_in_another_order_have_their_scores_in_that_order(scorer):
    data, params, rng = queries(), fitted(scorer), np.random.default_rng(2)
    order = np.concatenate([a + rng.permutation(n) for a, n in zip(data.offsets, SIZES, strict=False)])
    turned = Dataset.from_arrays(data.features[order], group=SIZES)
    np.testing.assert_allclose(scorer.score(params, turned), scorer.score(params, data)[order], rtol=0, atol=1e-12)


def test_a_document_less_changes_the_scores_of_its_query_alone():
    data, scorer = queries(), Attention()
    less = Dataset.from_arrays(data.features[:-1], group=[*SIZES[:-1], SIZES[-1] - 1])
    before, after = (scorer.score(fitted(scorer), part) for part in (data, less))
    np.testing.assert_allclose(after[:15], before[:15], rtol=0, atol=1e-12)
    assert np.abs(after[15:] - before[15:-1]).min() > 1e-6


def test_without_blocks_it_is_linear():
    scorer, data = Attention(blocks=0, width=4), queries()
    parts = scorer.views(fitted(scorer)["theta"], 3)
    weights = parts["in"] @ parts["out"][:, 0]
    offset = parts["in offset"] @ parts["out"][:, 0] + parts["out offset"]
    linear = Linear().score({"theta": np.append(weights, offset)}, data)
    np.testing.assert_allclose(scorer.score(fitted(scorer), data), linear, atol=1e-12)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torchs_layers_with_the_same_parameters_give_the_same_scores():
    import torch

    scorer, data = Attention(width=8, heads=2, blocks=2, hidden=5), queries()
    parts = {name: torch.from_numpy(part.copy()) for name, part in scorer.views(fitted(scorer)["theta"], 3).items()}

    def norm(h, name):
        return torch.nn.functional.layer_norm(h, (8,), parts[f"{name} gain"], parts[f"{name} offset"])

    def scores(x):
        h = x @ parts["in"] + parts["in offset"]
        for b in range(2):
            among = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64).eval()
            weights = {
                "in_proj_weight": parts[f"{b} qkv"].T, "in_proj_bias": parts[f"{b} qkv offset"],
                "out_proj.weight": parts[f"{b} mix"].T, "out_proj.bias": parts[f"{b} mix offset"],
            }  # fmt: skip
            among.load_state_dict(weights)
            a = norm(h, f"{b} norm")[None]
            h = h + among(a, a, a, need_weights=False)[0][0]
            up = torch.relu(norm(h, f"{b} norm2") @ parts[f"{b} up"] + parts[f"{b} up offset"])
            h = h + up @ parts[f"{b} down"] + parts[f"{b} down offset"]
        return (norm(h, "last") @ parts["out"] + parts["out offset"])[:, 0]

    X = torch.from_numpy(np.asarray(data.features, np.float64))
    with torch.no_grad():
        expected = np.concatenate(
            [scores(X[a : a + n]).numpy() for a, n in zip(data.offsets, SIZES, strict=False) if n]
        )
    np.testing.assert_allclose(scorer.score(fitted(scorer), data), expected, atol=1e-10)


def middling(seed, n_queries=300, n=8):
    """Offers whose level of prices differs by query; the one nearest to the mean price of its query is relevant."""
    rng = np.random.default_rng(seed)
    prices = rng.standard_normal((n_queries, n)) + 3 * rng.standard_normal((n_queries, 1))
    away = np.abs(prices - prices.mean(axis=1, keepdims=True))
    labels = (away == away.min(axis=1, keepdims=True)).astype(int)
    return Dataset.from_arrays(prices.reshape(-1, 1), labels.ravel(), group=[n] * n_queries)


@pytest.mark.slow
def test_it_learns_what_depends_on_the_other_documents_and_a_perceptron_does_not():
    data, test, ndcg = middling(0), middling(1), {}
    for scorer in ("attention(width=16)", "mlp(hidden=[64])"):
        method = f"listnet(scorer={scorer},solver=adam(epochs=60,batch=8,learning_rate=0.01,penalty=0,patience=60))"
        scores = train(data, method, valid=middling(2, 60)).score(test)
        ndcg[scorer[:3]] = evaluate_all((NDCG(10),), scores, test.labels, test.offsets)[0].mean()
    assert ndcg["att"] > ndcg["mlp"] + 0.1


def test_a_saved_model_scores_the_same_and_needs_queries(tmp_path):
    data = queries()
    model = train(data, "listnet(scorer=attention(width=4,hidden=4),solver=adam(epochs=2))")
    model.save(tmp_path / "model.podium")
    again = Model.load(tmp_path / "model.podium")
    assert again.score(data).tobytes() == model.score(data).tobytes()
    assert again.learner.per_query


def test_exports_refuse_it_in_words():
    model = train(queries(), "listnet(scorer=attention(width=4,hidden=4),solver=adam(epochs=1))")
    with pytest.raises(IncompatibleError, match=r"attention is neither trees nor .*podium rank scores files"):
        Target.parse("onnx").accept(model)


def test_places_are_the_order_of_the_rows():
    scorer, data = Attention(width=4, hidden=3, places=5), queries()
    params = fitted(scorer)
    parts = scorer.views(params["theta"], 3)
    flipped = Dataset.from_arrays(data.features[[0, *range(7, 0, -1), *range(8, len(data.features))]], group=SIZES)
    before, after = scorer.score(params, data), scorer.score(params, flipped)
    assert np.abs(after[1:8] - before[1:8][::-1]).max() > 1e-6
    np.testing.assert_array_equal(after[8:], before[8:])
    parts["places"][:] = 0.0
    plain = np.concatenate([part.ravel() for name, part in parts.items() if name != "places"])
    expected = Attention(width=4, hidden=3).score({"theta": plain}, data)
    np.testing.assert_array_equal(scorer.score(params, data), expected)


def test_places_after_the_last_share_its_vector_and_every_vector_has_its_slope():
    scorer, data, step = Attention(width=4, hidden=3, places=5), queries(), 1e-6
    params, g = fitted(scorer), np.cos(np.arange(45.0))
    for name in ("places", "in"):
        down = scorer.views(scorer.pullback(params, data, g), 3)[name]
        for place in range(len(down)):
            moved = []
            for sign in (1, -1):
                theta = params["theta"].copy()
                scorer.views(theta, 3)[name][place, 1] += sign * step
                moved.append(g @ scorer.score({"theta": theta}, data))
            assert down[place, 1] == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-5, abs=1e-7)
    np.testing.assert_array_equal(scorer._places(np.array([0, 7, 7, 9])), [0, 1, 2, 3, 4, 4, 4, 0, 1])


def test_a_first_stage_of_relevant_order_is_learned():
    """Features say nothing; the relevant document of each query came third."""
    X, labels = np.random.default_rng(0).standard_normal((300, 1)), np.tile([0, 0, 1, 0, 0, 0], 50)
    data = Dataset.from_arrays(X, labels, group=[6] * 50)
    scorer = "attention(width=4,hidden=4,places=10)"
    model = train(data, f"listnet(scorer={scorer},solver=adam(epochs=30,learning_rate=0.05))")
    scores = model.score(Dataset.from_arrays(X[:6], group=[6]))
    assert scores.argmax() == 2


def test_heads_must_divide_the_width():
    with pytest.raises(ParameterError, match=r"heads=3, width=32. Use e.g. width=33"):
        Attention(heads=3)
