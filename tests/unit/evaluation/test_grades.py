"""Predicted grades against labels: scikit-learn's numbers, and the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error
from typer.testing import CliRunner

import podium
from podium.base.errors import DataError
from podium.cli.main import app


@pytest.mark.parametrize("scale", [[0, 1, 2, 3, 4], [-1, 0, 1], [0, 1]])
def test_they_are_the_numbers_of_scikit_learn(scale):
    rng = np.random.default_rng(len(scale))
    labels = rng.choice(scale, 200)
    grades = np.where(rng.random(200) < 0.5, labels, rng.choice(scale, 200))
    result = podium.evaluate_grades(labels, grades)
    assert result.documents == 200
    assert result.mae == pytest.approx(mean_absolute_error(labels, grades), abs=1e-12)
    assert result.accuracy == pytest.approx(accuracy_score(labels, grades), abs=1e-12)
    kappa = cohen_kappa_score(labels, grades, weights="quadratic", labels=scale)
    assert result.quadratic_kappa == pytest.approx(kappa, abs=1e-12)


def test_grades_count_by_their_values_also_if_one_between_is_never_used():
    labels, grades = np.array([0, 1, 4, 4, 0]), np.array([0, 4, 4, 1, 1])
    whole = cohen_kappa_score(labels, grades, weights="quadratic", labels=[0, 1, 2, 3, 4])
    assert podium.evaluate_grades(labels, grades).quadratic_kappa == pytest.approx(whole, abs=1e-12)


def test_documents_without_a_label_do_not_count():
    data = replace(podium.Dataset.from_arrays(np.ones((3, 1))), labels=np.array([np.nan, 1.0, 0.0]))
    assert podium.evaluate_grades(data, [2, 1, 1]) == podium.evaluate_grades([1.0, 0.0], [1, 1])


def test_kappa_of_a_single_grade_is_undefined():
    result = podium.evaluate_grades([1, 1], [1, 1])
    assert (result.mae, result.accuracy) == (0, 1)
    assert np.isnan(result.quadratic_kappa)
    assert result.to_dict()["quadratic-kappa"] is None


@pytest.mark.parametrize(
    ("labels", "grades", "words"),
    [
        ([1, 2], [1], "2 documents"),
        ([1], [np.nan], "row 0"),
        ([np.nan], [1], "no row has a label"),
        ([], [], "no"),
    ],
)
def test_what_cannot_be_compared_is_refused(labels, grades, words):
    with pytest.raises(DataError, match=words):
        podium.evaluate_grades(labels, grades)


def test_the_command_line_predicts_grades_and_evaluates_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    data = podium.Dataset.from_arrays(X, np.digitize(X[:, 0], [-0.5, 0.5]), qid=np.repeat(np.arange(6), 10))
    podium.write_letor(data, "data.txt")

    def run(*words):
        return CliRunner().invoke(app, words)

    assert run("train", "data.txt", "--valid", "none", "--method", "oc-svm", "-o", "oc.podium").exit_code == 0
    assert run("train", "data.txt", "--valid", "none", "--method", "regression", "-o", "r.podium").exit_code == 0
    assert run("rank", "oc.podium", "data.txt", "--format", "grades", "-o", "oc.txt").exit_code == 0
    assert run("rank", "r.podium", "data.txt", "--format", "grades").exit_code == 1
    rank = run("rank", "r.podium", "data.txt", "--format", "grades", "--thresholds", "data.txt", "-o", "r.txt")
    assert rank.exit_code == 0, rank.stderr
    several = run("evaluate", "data.txt", "oc.txt", "r.txt", "--grades")
    assert several.stdout.splitlines()[0].split() == ["file", "mae", "accuracy", "quadratic-kappa", "documents"]
    result = run("evaluate", "data.txt", "r.txt", "--grades", "--json")
    predicted = podium.load("r.podium").with_thresholds(data).grades(data)
    assert json.loads(result.stdout) == podium.evaluate_grades(data, predicted).to_dict()
    assert "only --json goes with it" in run("evaluate", "data.txt", "r.txt", "--grades", "-m", "map").stderr
    assert "needs --format grades" in run("rank", "r.podium", "data.txt", "--thresholds", "data.txt").stderr
