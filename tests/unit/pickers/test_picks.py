"""Choices of pickers: by worth, at random with real probabilities, and by members of a model that has some."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.pickers import Picker
from podium.testing.pickers import example


def test_real_probabilities_are_those_of_many_draws():
    model, pool = example()
    for name in ("random", "mixed(by=spread)", "depth"):
        counts, chances = Counter(), {}
        for seed in range(400):
            picks = Picker.parse(name).pick(model, pool, queries=3, documents=2, seed=seed)
            counts.update(picks.pool.document_ids)
            chances |= dict(zip(picks.pool.document_ids, picks.chance.tolist(), strict=True))
        for document, chance in chances.items():
            assert counts[document] / 400 == pytest.approx(chance, abs=5 * np.sqrt(0.25 / 400)), (name, document)
        assert sum(chances.values()) == pytest.approx(6.0), name  # every choice has 6 documents


def test_what_is_worth_most_is_chosen_and_says_so():
    model, pool = example()
    queries, documents = Picker.parse("spread").worth(model, pool, np.random.default_rng(0))
    picks = Picker.parse("spread").pick(model, pool, queries=1, documents=1)
    best = int(queries.argmax())
    rows = np.flatnonzero(pool.query_index == best)
    assert picks.pool.query_ids == (pool.query_name(best),)
    assert picks.pool.document_ids == (pool.document_name(int(rows[documents[rows].argmax()])),)
    assert picks.columns() == {"picked_by": ["spread"], "chance": ["1"]}
    assert set(Picker.parse("depth").pick(model, pool, queries=2, documents=1).picked_by) == {"random+depth"}


def test_a_judged_document_has_the_gain_of_its_label_for_every_member():
    model, pool = example()
    for name in ("elo", "spread"):
        _, documents = Picker.parse(name).worth(model, pool, np.random.default_rng(0))
        assert (documents[~np.isnan(pool.labels)] == 0).all()


def test_a_model_without_members_says_what_to_train():
    _, pool = example()
    single = podium.train(replace(pool, labels=np.nan_to_num(pool.labels)), "regression")
    with pytest.raises(IncompatibleError, match=r"no members.*podium train --method 'bagged\(of=…\)'"):
        Picker.parse("elo").pick(single, pool, queries=1, documents=1)
    with pytest.raises(ParameterError, match=r"elo needs a model.*use random"):
        Picker.parse("elo").pick(None, pool, queries=1, documents=1)


def test_what_cannot_be_put_on_a_sheet_is_refused():
    _, pool = example()
    random = Picker.parse("random")
    with pytest.raises(DataError, match="nothing left to judge"):
        random.pick(None, replace(pool, labels=np.nan_to_num(pool.labels)), queries=1, documents=1)
    with pytest.raises(DataError, match="no document ids"):
        random.pick(None, replace(pool, document_ids=None), queries=1, documents=1)
    twice = replace(pool, document_ids=np.array(["d"] * pool.n_documents, dtype=object))
    with pytest.raises(DataError, match="has document 'd' twice"):
        random.pick(None, twice, queries=1, documents=1)
    with pytest.raises(ParameterError, match="queries"):
        random.pick(None, pool, queries=0, documents=1)
