"""MLflow: a model as pyfunc, and a comparison with its report, in a store of files."""

import numpy as np
import pandas as pd
import pytest

mlflow = pytest.importorskip("mlflow", reason="needs pip install 'podium[adapters]'")

import podium
from podium.integrations.mlflow import log_comparison, log_model


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        yield run


def test_a_logged_model_scores_a_frame_with_qid_as_the_model_does():
    data, _ = podium.make_letor_like(20, (5, 9), n_features=4, seed=1)
    model = podium.train(data, "regression(transform=query-zscore)")
    logged = log_model(model)
    assert logged.signature.inputs.input_names() == ["qid", "1", "2", "3", "4"]
    frame = pd.DataFrame(data.features.astype(np.float64), columns=["1", "2", "3", "4"])
    frame.insert(0, "qid", [data.query_name(q) for q in data.query_index])
    scores = mlflow.pyfunc.load_model(logged.model_uri).predict(frame)
    np.testing.assert_array_equal(scores, model.score(data))


def test_a_logged_comparison_has_means_and_the_report(store):
    data, _ = podium.make_letor_like(30, (5, 9), n_features=4, seed=1)
    comparison = podium.compare(data, ["regression", "random"], ["ndcg@10", "map"])
    log_comparison(comparison)
    run = mlflow.get_run(store.info.run_id)
    expected = dict(zip(["ndcg_10/regression", "map/regression"], comparison.mean("regression"), strict=True))
    assert {name: run.data.metrics[name] for name in expected} == pytest.approx(expected)
    report = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/report.html")
    assert "<html" in report
