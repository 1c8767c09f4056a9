"""What every feature promises, run over the registry."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from podium.base.registry import Named, field_types, register
from podium.testing import FEATURE_CHECKS, check_feature, variants
from podium.text.features import Feature, register_feature
from podium.text.retrieval import Retrieval

SEEDS = Path(__file__).parents[1] / "unit" / "text" / "seeds.txt"
"""Ids of trusted documents."""
FILES = {"seeds": str(SEEDS), "preferences": str(SEEDS.with_name("preferred.txt"))}


SEARCHES = ("sdm", "rm3(documents=3)", "ql(fields=[title^2,text])", "rrf(of=[bm25,vectors])")


def cases():
    """Every feature with its defaults, with each parameter moved, and of one field."""
    for cls in Feature.catalogue().values():
        needed = [one for one in dataclasses.fields(cls) if one.default is dataclasses.MISSING]
        if needed:  # it names a stored field, or a file of ids
            yield cls(**{one.name: FILES.get(one.name, "year") for one in needed})
            continue
        yield from variants(cls)
        if cls.name == "search_score":
            yield from (cls(by=Retrieval.parse(text)) for text in SEARCHES)
        if "field" in field_types(cls):
            yield cls(field="title")


@pytest.fixture
def registry(monkeypatch):
    """Whatever is registered in a test is gone after it."""
    monkeypatch.setitem(Named._catalogues, "feature", dict(Named._catalogues["feature"]))


@pytest.mark.parametrize("feature", list(cases()), ids=repr)
@pytest.mark.parametrize("check", FEATURE_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_feature_keeps_its_promises(check, feature):
    check(feature)


@pytest.mark.usefixtures("registry")
def test_a_function_from_outside_keeps_them_too():
    def words(query, documents, index):
        """How many letters of the query's first word start the title."""
        return [float(one.get("title", "").startswith(query[:1])) for one in documents]

    check_feature(register_feature("third_party", words)())
    assert repr(Feature.parse("third_party")) == "third_party"


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda context: np.arange(len(context), dtype=float), "another order"),
        (lambda context: np.full(len(context), float(len(context))), "fewer candidates"),
        (lambda context: np.full(len(context), np.inf), "infinite"),
        (lambda context: np.full(len(context), np.nan if context.query.terms.size else 0.0), "have no value"),
        (lambda context: np.zeros(len(context), np.float32), "float32"),
        (lambda context: np.zeros(len(context) + 1), "numbers for"),
        (lambda context: np.full(len(context), float(len(context.index.segments))), "added by"),
        (lambda context: np.full(len(context), float(len(context.index.flags))), "after deletion"),
    ],
)
def test_a_feature_that_breaks_a_promise_is_found(wrong, says):
    about = {"name": "wrong", "values": lambda self, context: wrong(context), "__module__": __name__}
    feature = register(type("Wrong", (Feature,), about))()
    with pytest.raises(AssertionError, match=says):
        check_feature(feature)
