"""Handover: a model in a form that a target supports, over the raw features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.data.dataset import Dataset
from podium.errors import IncompatibleError, ParameterError
from podium.export.affine import Affine, fold
from podium.export.net import Net
from podium.export.stumps import forest_of_stumps
from podium.float32 import Singles
from podium.forms import Form, LinearForm, NetForm, StumpsForm, TreesForm
from podium.model import Model
from podium.scorers.forest import Forest, read_forest
from podium.scorers.splits import fold_map, split_exactly
from podium.transforms import Identity, MinMax, Transform, ZScore

Handed = Forest | Affine | Net
_WORDS = {Forest: "trees", Affine: "a linear model", Net: "a network"}


@dataclass(frozen=True, eq=False)
class Handover:
    """A model as a target sees it: its form over raw features, and the names of the features."""

    model: Model
    form: Handed
    names: tuple[str, ...]


def hand_over(model: Model, target: str, forms: tuple[type, ...], *, names: tuple[str, ...] | None = None) -> Handover:
    """The model in the first of the target's `forms` that it has."""
    form, transform = model.form(), model.learner.transform
    kind = _kind_of(model, form, forms, target)
    within = kind is Net and isinstance(transform, MinMax)
    if not within and not isinstance(transform, Identity | ZScore):
        raise IncompatibleError(_wrong_transform(form, transform, target))
    return Handover(model, _made(model, form, kind), _names(model, names))


def _wrong_transform(form: Form | None, transform: Transform, target: str) -> str:
    why = f"{target} does not support the transform {transform.name}"
    if transform.per_query:
        why = f"{transform.name} scales within each query, and {target} scores one document at a time"
    other = ""
    if isinstance(transform, MinMax) and isinstance(form, LinearForm | NetForm):
        other = ", or export to onnx, c or python, which take whole queries"
    return f"{why}. Train with transform=zscore or transform=identity{other}."


def _kind_of(model: Model, form: Form | None, forms: tuple[type, ...], target: str) -> type:
    if isinstance(form, TreesForm | StumpsForm):
        has: tuple[type, ...] = (Forest,)
    elif isinstance(form, LinearForm):
        has = (Affine, Net)
    elif isinstance(form, NetForm):
        has = (Net,)
    else:
        name = getattr(getattr(model.learner, "scorer", None), "name", None) or model.learner.name
        raise IncompatibleError(
            f"{name} is neither trees nor a linear model nor a perceptron, which is what can be exported. "
            "Train e.g. lambdamart, listnet or 'listnet(scorer=mlp)'; podium rank scores files with any model."
        )
    found = next((kind for kind in forms if kind in has), None)
    if found is None:
        can = " and ".join(_WORDS[kind] for kind in forms)
        raise IncompatibleError(
            f"{target} takes {can}; this model is {_WORDS[has[0]]}. Export it to onnx, c or python"
            + (", or elasticsearch-ltr, opensearch-ltr, solr, ranklib or vespa." if has[0] is Affine else ".")
        )
    return found


def _made(model: Model, form: Form | None, kind: type) -> Handed:
    if isinstance(form, TreesForm):
        return _folded(model, split_exactly(read_forest(form.text, form.n_features, exact=form.exact)))
    if isinstance(form, StumpsForm):
        return _folded(model, forest_of_stumps(form, model.n_features))
    layers = form.layers if isinstance(form, NetForm) else ()
    activation = form.activation if isinstance(form, NetForm) else "relu"
    if isinstance(form, LinearForm):
        layers = ((form.weights[:, None], np.array([form.offset])),)
    if isinstance(model.learner.transform, MinMax):
        none = np.zeros(model.n_features)
        return Net(none, none, none, layers, activation, within_query=True)
    affine = model.learner.transform.affine(model.state, _rows(np.zeros((0, model.n_features), np.float32)))
    assert affine is not None, "of Identity and ZScore"
    if kind is Affine:
        assert isinstance(form, LinearForm)
        return fold(form, affine)
    return Net(affine.centre, affine.scale, _filling(model), layers, activation)


def _filling(model: Model) -> np.ndarray:
    return np.asarray(model.state.get("mean", np.full(model.n_features, np.nan)), np.float64)


def _folded(model: Model, forest: Forest) -> Forest:
    if isinstance(model.learner.transform, Identity):
        return forest
    if (model.state["scale"] < 0).any():
        raise IncompatibleError("a feature has a negative scale, which no training gives. Train the model again.")

    def features(X: Singles) -> Singles:
        return np.asarray(model.learner.transform.features(model.state, _rows(X)))

    return fold_map(forest, features, model.n_features)


def _rows(X: Singles) -> Dataset:
    return Dataset(X, None, np.array([0, len(X)]))


def _names(model: Model, given: tuple[str, ...] | None) -> tuple[str, ...]:
    """The features' names: those given, else the model's, else f1, f2, …"""
    names = given or model.feature_names or tuple(f"f{l}" for l in range(1, model.n_features + 1))
    if len(names) != model.n_features:
        raise ParameterError(f"{len(names)} feature names for a model of {model.n_features} features.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two features are called {twice!r}. Give each its own name.")
    return tuple(names)
