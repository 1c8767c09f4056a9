"""Exportable models: a model as a function of raw features, in a form that a target supports."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.export.exported_forms import Affine, ExportedForm, Net, fold
from podium.export.exported_trees import Trees, forest_of_stumps
from podium.export.transforms import Clipped, Front, Kernel, Mixture, Products, Quantiles
from podium.imports import MOST_BYTES
from podium.model import Model
from podium.scorers.forms import Form, LinearForm, NetForm, StumpsForm, TreesForm
from podium.scorers.trees.exact_splits import fold_map, split_exactly
from podium.scorers.trees.forest import Forest
from podium.scorers.trees.lightgbm_text import read_forest
from podium.transforms import (
    AddMinMax,
    Clip,
    Identity,
    Keep,
    MinMax,
    MissingFlags,
    Nystrom,
    Quantile,
    SecondOrder,
    ZScore,
)  # fmt: skip
from podium.transforms.base import State, Transform
from podium.transforms.mapped import Mapped
from podium.transforms.stacked import Stacked

_DIGITS = 24  # of a number in a program's text
_EXPORTED: dict[type, tuple[type[ExportedForm], ...]] = {
    TreesForm: (Trees,),
    StumpsForm: (Trees,),
    LinearForm: (Affine, Net),
    NetForm: (Net,),
}
"""Forms of export for each form of a model."""


@dataclass(frozen=True, eq=False)
class Exportable:
    """A model ready for export: its form over raw features, and the names of the features."""

    model: Model
    form: ExportedForm
    names: tuple[str, ...]


def make_exportable(
    model: Model, target: str, forms: tuple[type[ExportedForm], ...], *, names: tuple[str, ...] | None = None
) -> Exportable:
    """The model in the first of the target's `forms` that fits. Targets with Net take any arithmetic of transforms."""
    _refuse_features_of_queries(model.learner.transform, target)
    form, transform = model.form(), _unless_identity(*_below_choice(model))
    kind, arithmetic = _kind_of(model, form, forms, target), Net in forms
    plain = isinstance(transform, Identity | ZScore) or (kind is Trees and _rises(transform))
    front = None if plain and kind is not Net else _front(model)
    kernel_of_trees = front is not None and not front.exact and kind is Trees
    if not plain and (front is None or kernel_of_trees or not arithmetic):
        can = front is not None and not kernel_of_trees
        why = _of_kernel(transform, target) if kernel_of_trees else _wrong_transform(transform, target, arithmetic, can)
        raise IncompatibleError(why)
    return Exportable(model, _exported(model, form, front), check_names(model, names))


def _rises(transform: Transform) -> bool:
    """Whether each transformed feature is an increasing function of one feature, so that trees need no transform."""
    while isinstance(transform, Mapped):
        transform = transform.of
    return isinstance(transform, Identity | ZScore | Quantile)


def _refuse_features_of_queries(transform: Transform, target: str) -> None:
    while isinstance(transform, Stacked):
        if isinstance(transform, MissingFlags):
            raise IncompatibleError(
                f"missing-flags adds features of 0 and 1, which {target} does not compute. Train with "
                f"transform={transform.of}; podium rank scores files with any model."
            )
        if not isinstance(transform, Keep | Nystrom | SecondOrder):
            raise IncompatibleError(
                f"{transform.name} makes features from the whole query, and {target} computes with those of documents. "
                "Train with transform=zscore, or for each market alone; podium rank scores files with any model."
            )
        transform = transform.of


def _below_choice(model: Model) -> tuple[Transform, State]:
    """The transform and its state, without the choice of features: the form then ignores those that are not kept."""
    transform, state = model.learner.transform, model.state
    return (transform.of, transform.state_below(state)) if isinstance(transform, Keep) else (transform, state)


def _unless_identity(transform: Transform, state: State) -> Transform:
    """The transform, or the identity if it adds no feature."""
    return Identity() if isinstance(transform, AddMinMax) and not len(state["added"]) else transform


def _of_kernel(transform: Transform, target: str) -> str:
    return (
        f"the last bits of {transform.name}'s sums and exponentials differ from program to program, and trees decide "
        f"by them: {target} would not decide as podium does. Train with transform=zscore or transform=identity, or "
        "with scorer=linear or scorer=mlp, which onnx, c and python take."
    )


def _wrong_transform(transform: Transform, target: str, arithmetic: bool, can: bool) -> str:
    """`arithmetic`: the target takes transforms of several features; `can`: such targets take this one."""
    at = transform
    while isinstance(at, SecondOrder | Nystrom | Keep):
        at = at.of
    if arithmetic:
        instead = "zscore, quantile, minmax or identity" if at is transform else f"{transform.name}(of=zscore)"
        return f"{target} does not support the transform {at.name}. Train with transform={instead}."
    why = f"{target} does not support the transform {transform.name}"
    if transform.per_query:
        does = "looks at the other documents of" if isinstance(at, Stacked) else "scales within"
        why = f"{at.name} {does} each query, and {target} scores one document at a time"
    other = ", or export to onnx, c or python" + (", which take whole queries" if transform.per_query else "")
    instead = "transform=zscore or transform=identity"
    if isinstance(at, AddMinMax):
        instead += ", e.g. 'lambdamart(transform=identity)'"
    return f"{why}. Train with {instead}{other if can else ''}."


def _kind_of(model: Model, form: Form | None, forms: tuple[type[ExportedForm], ...], target: str) -> type[ExportedForm]:
    possible = _EXPORTED.get(type(form), ())
    if not possible:
        name = getattr(getattr(model.learner, "scorer", None), "name", None) or model.learner.name
        raise IncompatibleError(
            f"{name} is neither trees nor a linear model nor a perceptron, which is what can be exported. "
            "Train e.g. lambdamart, listnet or 'listnet(scorer=mlp)'; podium rank scores files with any model."
        )
    if isinstance(form, NetForm) and form.norms:
        raise IncompatibleError(
            f"{target} does not compute layer norm. Train with mlp(layer_norm=false); "
            "podium rank scores files with any model."
        )
    supported = next((kind for kind in forms if kind in possible), None)
    if supported is None:
        raise IncompatibleError(
            f"{target} takes {' and '.join(kind.kind for kind in forms)}; this model is {possible[0].kind}. "
            "Export it to onnx, c or python"
            + (", or elasticsearch-ltr, opensearch-ltr, solr, ranklib or vespa." if possible[0] is Affine else ".")
        )
    return supported


def _exported(model: Model, form: Form | None, front: Front | None) -> ExportedForm:
    """The model's form on the front's features, or on raw features if there is no front."""
    width = model.n_features if front is None else front.widths[-1]
    kept = model.state["kept"] if isinstance(model.learner.transform, Keep) else np.arange(width)
    if isinstance(form, TreesForm | StumpsForm):
        forest = (
            split_exactly(_of_all(read_forest(form.text, form.n_features, exact=form.exact), kept, width))
            if isinstance(form, TreesForm)
            else forest_of_stumps(replace(form, feature=kept[form.feature]), width)
        )
        return Trees(_folded(model, forest) if front is None else forest, front)
    if isinstance(form, NetForm):
        assert front is not None, "of a network"
        (weights, offset), *rest = form.layers
        return Net(front, ((_scattered(weights, kept, width), offset), *rest), form.activation)
    assert isinstance(form, LinearForm), "checked"
    form = replace(form, weights=_scattered(form.weights, kept, width))
    if front is not None:
        return Net(front, ((form.weights[:, None], np.array([form.offset])),), "relu")
    transform, state = _below_choice(model)
    scaling = transform.affine(state, _rows(np.zeros((0, model.n_features), np.float32)))
    assert scaling is not None, "of Identity and ZScore"
    return fold(form, scaling)


def _scattered(weights: Array, kept: Ints, width: int) -> Array:
    """Weights of all features, 0 for those that are not kept."""
    everywhere = np.zeros((width, *weights.shape[1:]))
    everywhere[kept] = weights
    return everywhere


def _of_all(forest: Forest, kept: Ints, width: int) -> Forest:
    """A forest of kept features as one of all features."""
    return replace(forest, feature=kept[forest.feature].astype(np.int32), n_features=width)


def _front(model: Model) -> Front | None:
    """The transform as arithmetic; None if that is not possible."""
    (transform, state), mixtures = _below_choice(model), list[Mixture]()
    while isinstance(transform, Stacked):
        if not isinstance(transform, SecondOrder | Nystrom):
            return None
        mixtures.insert(0, _mixture(transform, state))
        state = transform.state_below(state)
        transform = transform.of
    transform = _unless_identity(transform, state)
    none, gap = np.zeros(model.n_features), 0.0 if mixtures else np.nan
    if isinstance(transform, Quantile):
        return _quantiles(transform, state, mixtures)
    curve = None
    if isinstance(transform, Clip):
        curve = Clipped(*(np.asarray(state[key], np.float64) for key in ("low", "high")))
        state, transform = transform.state_below(state), transform.of
        if not isinstance(transform, Identity | ZScore):
            return None
    if isinstance(transform, AddMinMax):
        added = np.asarray(state["added"], np.int32)
        return Front(none, none, none + gap, within_query=True, added=added, mixtures=tuple(mixtures))
    if isinstance(transform, MinMax):
        return Front(none, none, none, within_query=True, mixtures=tuple(mixtures))
    if isinstance(transform, Identity):
        return Front(none, none + 1.0, none + gap, mixtures=tuple(mixtures), curve=curve)
    if isinstance(transform, ZScore):
        centre, scale, mean = (np.asarray(state[key], np.float64) for key in ("centre", "scale", "mean"))
        return Front(centre, scale, mean, mixtures=tuple(mixtures), curve=curve)
    return None


def _quantiles(transform: Quantile, state: State, mixtures: list[Mixture]) -> Front:
    normal, d = transform.to == "normal", len(state["first"]) - 1
    curve = Quantiles(state["first"], state["knot"], state["low"], state["high"], normal)
    middle = np.full(d, 0.0 if normal else 0.5)
    return Front(np.zeros(d), np.ones(d), middle, mixtures=tuple(mixtures), curve=curve)


def _mixture(transform: SecondOrder | Nystrom, state: State) -> Mixture:
    if isinstance(transform, SecondOrder):
        first, second = (np.asarray(state[key], np.int32) for key in ("first", "second"))
        return Products(first, second, state["mean"], state["scale"])
    landmarks, root = state["landmarks"], state["root"]
    if _DIGITS * (landmarks.size + root.size) > MOST_BYTES:
        raise IncompatibleError(
            f"a kernel of {len(landmarks)} landmarks makes a file of more than {MOST_BYTES >> 20} MB. "
            f"Train with {transform.name}(components=300)."
        )
    return Kernel(float(state["gamma"][0]), state["landmarks"], state["root"])


def _folded(model: Model, forest: Forest) -> Forest:
    transform, state = _below_choice(model)
    if isinstance(_unless_identity(transform, state), Identity):
        return forest
    if any((array < 0).any() for name, array in state.items() if name.endswith("scale")):
        raise IncompatibleError("a feature has a negative scale, which no training gives. Train the model again.")

    def features(X: Singles) -> Singles:
        return np.asarray(transform.features(state, _rows(X)))

    return fold_map(forest, features, model.n_features)


def _rows(X: Singles) -> Dataset:
    return Dataset(X, None, np.array([0, len(X)]))


def check_names(model: Model, chosen: tuple[str, ...] | None) -> tuple[str, ...]:
    """Names of the features: the chosen ones, else the model's, else f1, f2, …"""
    names = chosen or model.feature_names or tuple(f"f{l}" for l in range(1, model.n_features + 1))
    if len(names) != model.n_features:
        raise ParameterError(f"{len(names)} feature names for a model of {model.n_features} features.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two features are called {twice!r}. Give each its own name.")
    return tuple(names)
