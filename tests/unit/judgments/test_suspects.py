"""Suspect labels: sums against enumeration, gradients against differences, and planted errors that must be found."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from typer.testing import CliRunner

from podium.base.errors import DataError, ParameterError
from podium.cli.main import app
from podium.clicks import write_clicks
from podium.clicks.simulate import simulate
from podium.data import make_letor_like
from podium.judgments import label_field
from podium.judgments.judgment_files import judgments_from, write_judgments
from podium.judgments.judgments import Judgments
from podium.judgments.label_field import CHAIN, ENUMERATED, PSEUDO, Field
from podium.judgments.suspects import judgments_of, suspects
from reference import label_field as reference

LABELS = 3


def a_field(kind, seed=0):
    """Three queries, one of a single document, with edges of a kind."""
    rng = np.random.default_rng(seed)
    sizes = [4, 1, 3]
    ends = {
        CHAIN: [[(0, 1), (1, 2), (2, 3)], [], [(0, 1), (1, 2)]],
        ENUMERATED: [[(0, 1), (0, 3), (1, 2), (0, 2)], [], [(0, 2), (0, 1), (1, 2)]],
        PSEUDO: [[], [], []],
    }[kind]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    edge_offsets = np.concatenate(([0], np.cumsum([len(mine) for mine in ends])))
    flat = np.array([pair for mine in ends for pair in mine], np.int64).reshape(-1, 2)
    field = Field(rng.normal(size=(8, 2)), offsets, flat, rng.normal(size=(len(flat), 2)), edge_offsets)
    return field, rng.integers(0, LABELS, 8), 2 * rng.normal(size=(LABELS, 2)), 2 * rng.normal(size=(LABELS**2, 2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [CHAIN, ENUMERATED, PSEUDO])
def test_the_sums_over_all_labellings_are_those_of_enumeration(kind):
    field, labels, w, v = a_field(kind)
    if kind != PSEUDO:
        assert field.kinds(LABELS)[0] == kind
    value, marginals = 0.0, []
    for q in range(3):
        rows, edges = (slice(o[q], o[q + 1]) for o in (field.offsets, field.edge_offsets))
        node = field.features[rows] @ w.T
        edge = (field.edge_features[edges] @ v.T).reshape(-1, LABELS, LABELS)
        mine = reference.log_likelihood_and_marginals(node, edge, field.ends[edges], labels[rows])
        value, marginals = value + mine[0], [*marginals, mine[1]]
    assert label_field._likelihood(field, labels, w, v)[0] == pytest.approx(value, rel=1e-12)
    found = label_field.Fitted(w, v).marginals(field, labels)
    assert found == pytest.approx(np.concatenate(marginals), abs=1e-12)


def test_too_many_labellings_are_replaced_by_the_pseudo_likelihood(monkeypatch):
    field, labels, w, v = a_field(ENUMERATED)
    monkeypatch.setattr(label_field, "LABELLINGS", 2)
    assert (field.kinds(LABELS)[[0, 2]] == PSEUDO).all()
    value = 0.0
    for q in range(3):
        rows, edges = (slice(o[q], o[q + 1]) for o in (field.offsets, field.edge_offsets))
        edge = (field.edge_features[edges] @ v.T).reshape(-1, LABELS, LABELS)
        value += reference.pseudo_likelihood(field.features[rows] @ w.T, edge, field.ends[edges], list(labels[rows]))
    assert label_field._likelihood(field, labels, w, v)[0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("kind", "most"), [(CHAIN, 10_000), (ENUMERATED, 10_000), (ENUMERATED, 2)])
def test_gradients_are_finite_differences(kind, most, monkeypatch):
    monkeypatch.setattr(label_field, "LABELLINGS", most)
    field, labels, w, v = a_field(kind, seed=3)
    _, nodes, edges = label_field._likelihood(field, labels, w, v)
    for given, gradient, move in (
        (w, nodes.T @ field.features, lambda step: (w + step, v)),
        (v, edges.T @ field.edge_features, lambda step: (w, v + step)),
    ):
        for at in np.ndindex(given.shape):
            step = np.zeros(given.shape)
            step[at] = 1e-5
            ahead, back = (label_field._likelihood(field, labels, *move(sign * step))[0] for sign in (1, -1))
            assert gradient[at] == pytest.approx((ahead - back) / 2e-5, abs=1e-6)


@pytest.fixture(scope="module")
def planted():
    """Judged data of which 5 % of the grades were changed, and people who click by the true ones."""
    data, utility = make_letor_like(45, (6, 10), n_features=8, seed=0)
    rng = np.random.default_rng(0)
    log = simulate(data, [utility + rng.standard_normal(len(utility))], pages=2500, model="pbm", seed=0)
    wrong = rng.random(len(utility)) < 0.05
    labels = data.labels.copy()
    labels[wrong] = (labels[wrong] + rng.integers(1, 5, wrong.sum())) % 5
    return judgments_of(replace(data, labels=labels)), log, wrong


@pytest.fixture(scope="module")
def found(planted):
    return suspects(planted[0], planted[1])


def some_of(votes, rows, *, highest=4):
    names = votes.item_names()
    queries, documents = zip(*(names[k] for k in rows), strict=True)
    return Judgments.from_rows(queries, documents, ["ann"] * len(rows), np.minimum(votes.grades[rows], highest))


@pytest.mark.slow
def test_planted_errors_come_first_and_neighbours_help(planted, found):
    votes, log, wrong = planted
    alone = average_precision_score(wrong, suspects(votes, log, "independent").score)
    assert alone > 3 * wrong.mean()
    assert average_precision_score(wrong, found.score) >= alone
    assert (found.score >= 0).all()


@pytest.mark.slow
def test_all_documents_of_a_query_can_depend_on_each_other(planted):
    votes, log, wrong = planted
    rows = np.flatnonzero(votes.items < votes.offsets[20])
    full = suspects(some_of(votes, rows, highest=1), log, "full")
    assert average_precision_score(wrong[rows], full.score) > 2 * wrong[rows].mean()
    assert np.isfinite(full.score).all()


def test_only_sure_corrections_are_made(planted, found):
    votes, _, wrong = planted
    corrected = found.corrected(0.9)
    changed = corrected.grades != votes.grades
    assert changed.any()
    assert (found.probability[changed] >= 0.9).all()
    assert (corrected.grades[changed] == found.likeliest[changed]).all()
    assert wrong[changed].mean() > 3 * wrong.mean()
    assert (found.corrected(1.0).grades == votes.grades).all()
    with pytest.raises(ParameterError, match="sure must be"):
        found.corrected(0.0)


def test_documents_that_the_log_does_not_show_are_not_checked(planted):
    votes, log, _ = planted
    names = [*votes.item_names(), ("new", "x")]
    more = Judgments.from_rows(*zip(*names, strict=True), ["ann"] * len(names), [*votes.grades, 2.0])
    some = suspects(more, log, "independent")
    assert np.isnan(some.score[-1])
    assert len(some.order) == votes.n_items
    assert some.corrected(0.01).grades[-1] == 2.0
    nothing = Judgments.from_rows(["new", "new"], ["x", "y"], ["ann", "ann"], [0, 1])
    with pytest.raises(DataError, match="shows none of the judged documents"):
        suspects(nothing, log)
    with pytest.raises(DataError, match="at least 5 are needed"):
        suspects(some_of(votes, np.flatnonzero(votes.items < votes.offsets[3])), log)


def test_the_command_lists_suspects_and_writes_corrected_qrels(planted, found, tmp_path, monkeypatch):
    votes, log, wrong = planted
    monkeypatch.chdir(tmp_path)
    write_judgments(votes, "given.qrels")
    write_clicks(log, "log.jsonl")
    words = ["judges", "suspects", "given.qrels", "log.jsonl", "-o", "new.qrels", "--top", "3", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "corrected (another grade has probability 0.9 or more)" in done.stderr
    assert (judgments_from("new.qrels").grades == found.corrected().grades).all()
    documents = [one["document"] for one in json.loads(done.stdout)]
    assert documents == [votes.item_names()[votes.items[k]][1] for k in found.order[:3]]
    assert wrong[found.order[0]]


def test_votes_of_several_judges_are_a_table_and_no_qrels(tmp_path):
    votes = Judgments.from_rows(["q", "q"], ["a", "a"], ["ann", "bob"], [2, 0.5])
    write_judgments(votes, str(tmp_path / "votes.csv"))
    again = judgments_from(str(tmp_path / "votes.csv"))
    assert (again.judges, again.grades.tolist()) == (("ann", "bob"), [2, 0.5])
    with pytest.raises(DataError, match="one grade a document"):
        write_judgments(votes, str(tmp_path / "votes.qrels"))
