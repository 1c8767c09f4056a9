"""Weights of first stages, learned and exported: the engine's arithmetic gives the model's order."""

import json
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError, ModelFileError
from podium.data import Dataset
from podium.export import Target, export, prove_file
from podium.transforms import HybridScores
from reference.fusions import FUSIONS

ENGINES = {"opensearch-hybrid": "opensearch", "elasticsearch-linear": "elasticsearch"}


def stages(n=40, seed=0):
    """Queries whose lexical and vector scores both tell relevance; neither stage returns all documents."""
    rng = np.random.default_rng(seed)
    parts = []
    for q in range(n):
        size = int(rng.integers(5, 15)) if q else 1
        y = rng.integers(0, 3, size)
        X = np.c_[rng.gamma(2 + y, 3.0), 0.5 + 0.1 * y + rng.normal(0, 0.1, size)].astype(np.float32)
        X[rng.random(X.shape) < 0.2] = np.nan
        X[::5, 0] = X[0, 0]  # ties
        parts.append((X, y, np.full(size, f"q{q}")))
    return Dataset.from_arrays(
        np.concatenate([x for x, _, _ in parts]), np.concatenate([y for _, y, _ in parts]).astype(float),
        qid=np.concatenate([q for _, _, q in parts]), feature_names=["lexical", "vector"],
    )  # fmt: skip


def trained(target, how, data):
    return podium.train(data, f"listnet(transform=hybrid-scores(engine={ENGINES[target]},how={how}))")


@pytest.mark.parametrize("how", ["minmax", "l2"])
@pytest.mark.parametrize("target", ENGINES)
def test_the_engines_arithmetic_gives_the_models_order(target, how, tmp_path):
    data, other = stages(), stages(20, seed=1)
    model = trained(target, how, data)
    proof = export(model, target, tmp_path / "hybrid.json", data=other)
    assert proof.holds
    assert proof.orders.changed == 0
    assert proof.missing.startswith("a stage that did not return the document counts 0")
    assert proof.seen <= proof.bound < 1e-5
    raw = (tmp_path / "hybrid.json").read_bytes()
    weights = model.form().weights / model.form().weights.sum()
    for q in range(other.n_queries):
        part = other.select([q])
        X = np.asarray(part.features)
        returned = [{k: float(x) for k, x in enumerate(column) if x == x} for column in X.T]
        scores = FUSIONS[target](raw, returned)
        normalised = HybridScores(engine=ENGINES[target], how=how).normalised(X).astype(float)
        theirs = np.array([scores.get(k, 0.0) for k in range(len(X))])
        np.testing.assert_allclose(theirs, normalised @ weights, rtol=0, atol=proof.bound)
        ours = model.score(part)
        for a in range(len(X)):
            for b in range(len(X)):
                assert not (ours[a] > ours[b] + 1e-5 and theirs[a] < theirs[b])


def test_the_file_is_a_pipeline_with_weights_that_add_up_to_one(tmp_path):
    export(trained("opensearch-hybrid", "minmax", stages()), "opensearch-hybrid", tmp_path / "p.json")
    body = json.loads((tmp_path / "p.json").read_text())
    assert "lexical, vector" in body["description"]
    [processor] = body["phase_results_processors"]
    assert processor["normalization-processor"]["normalization"] == {"technique": "min_max"}
    weights = processor["normalization-processor"]["combination"]["parameters"]["weights"]
    assert sum(weights) == pytest.approx(1, abs=1e-6)
    assert min(weights) > 0
    export(trained("elasticsearch-linear", "l2", stages()), "elasticsearch-linear(window=50)", tmp_path / "r.json")
    linear = json.loads((tmp_path / "r.json").read_text())["retriever"]["linear"]
    assert linear["rank_window_size"] == 50
    assert [each["retriever"] for each in linear["retrievers"]] == ["lexical", "vector"]
    assert {each["normalizer"] for each in linear["retrievers"]} == {"l2_norm"}


def test_a_changed_file_is_not_proven(tmp_path):
    model = trained("opensearch-hybrid", "minmax", stages())
    path = tmp_path / "p.json"
    export(model, "opensearch-hybrid", path)
    body = json.loads(path.read_text())
    inside = body["phase_results_processors"][0]["normalization-processor"]
    inside["combination"]["parameters"]["weights"].reverse()
    path.write_text(json.dumps(body))
    assert not prove_file(model, "opensearch-hybrid", path).holds
    inside["normalization"]["technique"] = "l2"
    path.write_text(json.dumps(body))
    assert not prove_file(model, "opensearch-hybrid", path).holds
    for damage in (
        {},
        {"phase_results_processors": [{"normalization-processor": {"combination": {"technique": "x"}}}]},
    ):
        path.write_text(json.dumps(damage))
        with pytest.raises(ModelFileError, match=r"no file that podium exports to opensearch-hybrid|not what"):
            prove_file(model, "opensearch-hybrid", path)


def test_other_models_and_negative_weights_are_refused():
    data = stages()
    for method in ("listnet", "listnet(transform=hybrid-scores(engine=elasticsearch))"):
        with pytest.raises(IncompatibleError, match=r"takes weights of first stages.*hybrid-scores\(engine=opensearch"):
            Target.parse("opensearch-hybrid").accept(podium.train(data, method))
    turned = np.where(np.isnan(data.features[:, 1]), 1.0, 2.0 - 2 * data.features[:, 1].astype(float))
    worse = replace(data, labels=turned.clip(0).round())
    with pytest.raises(IncompatibleError, match=r"the weight of vector is -.*Train without it"):
        Target.parse("opensearch-hybrid").accept(trained("opensearch-hybrid", "minmax", worse))
    with pytest.raises(IncompatibleError, match=r"scales within each query|whole queries|looks at"):
        Target.parse("solr").accept(trained("opensearch-hybrid", "minmax", data))


@pytest.mark.parametrize(
    ("engine", "how", "column", "expected"),
    [
        ("opensearch", "minmax", [2.0, 5.0, 3.0], [0.001, 1.0, np.float32(1) / np.float32(3)]),
        ("opensearch", "minmax", [4.0, np.nan, 4.0], [1.0, 0.0, 1.0]),
        ("opensearch", "minmax", [0.0, 0.0], [0.001, 0.001]),  # the largest is at least 1.4e-45, in the engine too
        ("elasticsearch", "minmax", [2.0, 5.0, 3.0], [0.0, 1.0, np.float32(1) / np.float32(3)]),
        ("elasticsearch", "minmax", [4.0, np.nan, 4.0], [4.0, 0.0, 4.0]),
        ("opensearch", "l2", [3.0, 4.0], [0.6, 0.8]),
        ("opensearch", "l2", [0.0, 0.0], [0.0, 0.0]),
        ("elasticsearch", "l2", [3.0, 4.0], [0.6, 0.8]),
        ("elasticsearch", "l2", [1e-7, 0.0], [1e-7, 0.0]),
        ("elasticsearch", "l2", [np.nan, np.nan], [0.0, 0.0]),
    ],
)
def test_scores_are_normalised_as_the_engine_does(engine, how, column, expected):
    got = HybridScores(engine=engine, how=how).normalised(np.array(column, np.float32)[:, None])
    np.testing.assert_array_equal(got[:, 0], np.array(expected, np.float32))
