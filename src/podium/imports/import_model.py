"""Import a model of LightGBM, XGBoost, CatBoost, RankLib or scikit-learn; files need not be trusted.

>>> model = import_model(b"## Coordinate Ascent\\n1:0.5 2:-1.0\\n")
>>> model.score([[2.0, 1.0]]).tolist()
[0.0]
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from podium.base.errors import ModelFileError, ParameterError, PodiumError
from podium.base.files import reading
from podium.imports.catboost import read_catboost
from podium.imports.foreign_file import MOST_BYTES, MOST_FEATURES, ForeignModel, refuse
from podium.imports.lightgbm import read_lightgbm
from podium.imports.models_in_memory import written
from podium.imports.ranklib import read_ranklib
from podium.imports.scikit_learn import is_of_scikit_learn, read_scikit_learn
from podium.imports.xgboost import read_xgboost
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers import Linear, Params, Trees
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import EXACT
from podium.scorers.trees.lightgbm_text import write_forest
from podium.solvers import Boosting
from podium.transforms import Identity

FORMATS = ("lightgbm", "xgboost", "catboost", "ranklib")


def import_model(
    source: Any,
    *,
    format: str | None = None,
    trees: Literal["all", "best"] | None = None,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Model:
    """Import a model of another tool, to rank, explain, compare and export with it.

    `source` is a file, its bytes, or a model in memory: a Booster, LGBMRanker, XGBRanker, CatBoost or CatBoostRanker;
    or trees of scikit-learn for regression: one, a random forest, extra trees or gradient boosting.
    `format` is one of FORMATS; by default it is recognised from the beginning of the file. `trees`: for an XGBoost
    model with early stopping, `all` trees, as its Booster predicts, or those up to the `best` iteration, as its
    XGBRanker does; by default as the object predicts, and `all` of a file. `n_features`: number of features in your
    data, for a RankLib model, whose file has them only up to the last one in use. `feature_names`: names
    in your data, if the file has none or others (LightGBM writes _ for blanks).

    `most_bytes`: refuse files that are larger.
    """
    if trees not in ("all", "best", None):
        raise ParameterError(f"trees must be all or best; got {trees!r}.")
    if is_of_scikit_learn(source):
        if format is not None or trees is not None or n_features is not None:
            raise ParameterError("format, trees and n_features are for other models than those of scikit-learn.")
        read, digest = read_scikit_learn(source)
        return as_model(_renamed(read, feature_names), sha256=digest)
    if isinstance(source, bytes):
        where, raw = "<bytes>", source
    elif isinstance(source, str | PathLike):
        where, raw = os.fspath(source), _read(source, most_bytes)
    else:
        model = written(source)
        where, raw, format = type(source).__name__, model.raw, format or model.format
        trees = trees or ("best" if model.best else "all")
    if len(raw) > most_bytes:
        raise ModelFileError(f"{where}: larger than {most_bytes} bytes, which is the most that is read.")
    name = format or _format_of(raw, where)
    if name not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}; got {name!r}.")
    if trees == "best" and name != "xgboost":
        raise ParameterError(f"trees=best is for models of XGBoost, which know their best iteration; this is {name}.")
    if n_features is not None and name != "ranklib":
        raise ParameterError(f"n_features is for models of RankLib; one of {name} says how many features it has.")
    readers: dict[str, Callable[[bytes], ForeignModel]] = {
        "lightgbm": read_lightgbm,
        "xgboost": lambda raw: read_xgboost(raw, best=trees == "best"),
        "catboost": read_catboost,
        "ranklib": lambda raw: widened(read_ranklib(raw), n_features, feature_names),
    }
    try:
        foreign = _renamed(readers[name](raw), feature_names)
        return as_model(foreign, sha256=hashlib.sha256(raw).hexdigest())
    except ParameterError:
        raise
    except (PodiumError, RecursionError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{where}: {error}") from error


def widened(foreign: ForeignModel, n_features: int | None, names: Sequence[str] | None = None) -> ForeignModel:
    """Widen the model to `n_features` (by default the number of names); added features are unused."""
    form, used = foreign.form, _n_features(foreign)
    if n_features is None and names is not None:
        n_features = max(used, len(names))
    if n_features is None:
        more = f"{used}, the last that it uses; if your data has more, say how many (--n-features)"
        return replace(foreign, notes={**foreign.notes, "features": more})
    if n_features == used:
        return foreign
    if not used < n_features <= MOST_FEATURES:
        raise ParameterError(f"n_features must be from {used}, which it uses, to {MOST_FEATURES}; got {n_features}.")
    if isinstance(form, LinearForm):
        return replace(foreign, form=replace(form, weights=np.append(form.weights, np.zeros(n_features - used))))
    return replace(foreign, form=replace(form, n_features=n_features))


def _n_features(foreign: ForeignModel) -> int:
    return len(foreign.form.weights) if isinstance(foreign.form, LinearForm) else foreign.form.n_features


def _renamed(foreign: ForeignModel, names: Sequence[str] | None) -> ForeignModel:
    if names is None:
        return foreign
    if len(names) != _n_features(foreign):
        raise ParameterError(f"{len(names)} feature names for a model of {_n_features(foreign)} features.")
    if len(set(names)) < len(names):
        raise ParameterError("two features have the same name. Give each its own.")
    return replace(foreign, names=tuple(names))


def as_model(foreign: ForeignModel, *, sha256: str) -> Model:
    """A foreign model as a podium model."""
    params: Params
    if isinstance(foreign.form, LinearForm):
        learner, n_features = Recipe(scorer=Linear(), transform=Identity()), len(foreign.form.weights)
        params = {"theta": np.append(foreign.form.weights, foreign.form.offset)}
    else:
        learner, n_features = Recipe(scorer=Trees(), solver=Boosting(), transform=Identity()), foreign.form.n_features
        params = {"trees": np.frombuffer(write_forest(foreign.form), np.uint8)}
        if (foreign.form.missing == EXACT).all():
            params["exact"] = np.ones(1, np.uint8)
    about = {"format": foreign.format, "version": foreign.version, "sha256": sha256, **foreign.notes}
    if not isinstance(foreign.form, LinearForm) and foreign.form.cover is None:
        about["cover"] = "unknown: explanations take every leaf to hold as many documents"
    model = Model(learner, params, {}, n_features, foreign.names, {"imported": about})
    if not np.isfinite(model.score(np.zeros((1, n_features), np.float32))).all():
        refuse("its scores are not finite numbers.")
    return model


def _read(source: str | PathLike[str], most: int) -> bytes:
    with reading(source) as file:
        return file.read(most + 1)


_OTHERS = {
    re.compile(b"CBM1"): """CatBoost's binary format. Save the model with save_model("model.json", format="json")""",
    re.compile(
        rb"\["
    ): """a list, as of XGBoost's dump_model, which leaves the base score out. Use save_model("model.json")""",
    re.compile(rb'\{\s*"name":\s*"tree"'): """LightGBM's dump_model. Save the model with save_model("model.txt")""",
    re.compile(b"binf"): """XGBoost's old binary format. Save the model with save_model("model.json")""",
}
"""First bytes of formats of these tools that cannot be imported, and what to do instead."""


def _format_of(raw: bytes, where: str) -> str:
    start = raw[:4096].lstrip()
    if start.startswith((b"tree\n", b"tree\r\n")):
        return "lightgbm"
    if start.startswith(b"##"):
        return "ranklib"
    for beginning, what in _OTHERS.items():
        if beginning.match(start):
            raise ModelFileError(f"{where}: {what}.")
    if start.startswith(b"{"):
        catboost = b'"oblivious_trees"' in raw or b'"features_info"' in raw
        return "catboost" if catboost and b'"learner"' not in start[:200] else "xgboost"
    raise ModelFileError(
        f"{where}: neither LightGBM's text, XGBoost's or CatBoost's JSON nor RankLib's. Say which with format "
        f"({', '.join(FORMATS)}); models in pickles are not read: save them with the tool's own save_model."
    )
