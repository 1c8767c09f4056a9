"""Torch modules as scorers: whose code runs, what a model file holds, what is refused."""

import importlib.util
import sys

import numpy as np
import pytest

from podium.base.errors import MissingPackageError, ModelFileError, ParameterError
from podium.model import Model
from podium.scorers import Torch
from podium.scorers import torch as scorers_torch
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(10, 6)
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def linear(n_features):
    import torch

    return torch.nn.Linear(n_features, 1)


def two_scores(n_features):
    import torch

    return torch.nn.Linear(n_features, 2)


def with_buffers(n_features):
    import torch

    return torch.nn.Sequential(torch.nn.BatchNorm1d(n_features), torch.nn.Linear(n_features, 1))


@pytest.fixture
def trusted(monkeypatch):
    def trust(factory):
        name = f"{__name__}:{factory.__name__}"
        monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
        monkeypatch.setenv("PODIUM_TORCH", f"elsewhere:net,{name}")
        scorers_torch._template.cache_clear()
        return Torch(module=name)

    return trust


@needs_torch
def test_a_linear_module_is_the_linear_scorer(trusted):
    theta = np.array([1.0, -2.0, 0.5, 3.0])  # weights, then the offset
    got = trusted(linear).score({"theta": theta}, DATA)
    np.testing.assert_allclose(got, DATA.features.astype(np.float64) @ theta[:3] + 3.0, rtol=1e-12)
    assert trusted(linear).penalised(3).tolist() == [1, 1, 1, 0]


@needs_torch
def test_a_model_holds_numbers_and_a_name_and_scores_the_same_when_loaded(tmp_path, trusted):
    model = train(DATA, f"listnet(scorer={trusted(linear)},solver=adam(epochs=3))")
    model.save(tmp_path / "m.podium")
    np.testing.assert_array_equal(Model.load(tmp_path / "m.podium").score(DATA), model.score(DATA))


@needs_torch
def test_a_strangers_model_runs_no_code_that_was_not_trusted(tmp_path, trusted, monkeypatch):
    train(DATA, f"listnet(scorer={trusted(linear)},solver=adam(epochs=1))").save(tmp_path / "m.podium")
    monkeypatch.delenv("PODIUM_TORCH")
    scorers_torch._template.cache_clear()
    with pytest.raises(ModelFileError, match=r"is code, and this process was not told to run it.*PODIUM_TORCH="):
        Model.load(tmp_path / "m.podium")


@needs_torch
def test_naming_a_module_imports_nothing(monkeypatch):
    monkeypatch.setattr("importlib.import_module", lambda name: pytest.fail(f"imported {name}"))
    with pytest.raises(ParameterError, match="not told to run"):
        Torch(module="antigravity:fly").n_params(3)


@needs_torch
def test_trust_lets_a_factory_run(monkeypatch):
    monkeypatch.setattr(scorers_torch, "_trusted", set())
    scorers_torch.trust("nowhere.at.all:net")
    with pytest.raises(ParameterError, match=r"must be package\.file:factory"):
        Torch(module="nowhere.at.all:net").n_params(3)


@needs_torch
def test_a_seed_starts_a_module_and_leaves_torchs_own_chance_alone():
    import torch

    state = torch.random.get_rng_state()
    first, second = (Torch().init(4, np.random.default_rng(seed)) for seed in (0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not np.array_equal(first, second)


@needs_torch
def test_modules_that_are_no_scorers_are_refused_in_words(trusted):
    with pytest.raises(ParameterError, match=r"has buffers beside its parameters.* Leave them out"):
        trusted(with_buffers).n_params(3)
    with pytest.raises(ValueError, match=r"shape \(60, 2\) for 60 rows"):
        trusted(two_scores).score({"theta": np.zeros(8)}, DATA)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    scorers_torch._template.cache_clear()
    with pytest.raises(MissingPackageError, match=r"pip install 'podium\[torch\]'"):
        Torch().score({"theta": np.zeros(4)}, DATA)


def middle(n_features):
    """Scores of documents minus their mean over the query."""
    import torch

    class Middle(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(n_features, 1)

        def forward(self, x):
            return self.linear(x) - self.linear(x).mean()

    return Middle()


@needs_torch
def test_with_lists_a_module_sees_one_query_at_a_time(trusted):
    scorer = Torch(module=trusted(middle).module, lists=True)
    theta = np.array([1.0, -2.0, 0.5, 3.0])
    got = scorer.score({"theta": theta}, DATA).reshape(10, 6)
    scores = (DATA.features.astype(np.float64) @ theta[:3]).reshape(10, 6)
    np.testing.assert_allclose(got, scores - scores.mean(axis=1, keepdims=True), atol=1e-12)
    assert scorer.per_query
    assert not Torch().per_query


@needs_torch
def test_a_module_of_lists_is_trained_and_its_gradient_is_that_of_the_lists(trusted):
    scorer = Torch(module=trusted(middle).module, lists=True)
    g, X = np.random.default_rng(0).standard_normal((10, 6)), DATA.features.astype(np.float64).reshape(10, 6, -1)
    centred = X - X.mean(axis=1, keepdims=True)
    down = scorer.pullback({"theta": np.array([1.0, -2.0, 0.5, 3.0])}, DATA, g.ravel())
    np.testing.assert_allclose(down, [*np.einsum("qn,qnd->d", g, centred), 0.0], atol=1e-12)
