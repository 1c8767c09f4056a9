"""Trees as rules: what each tree asks of which feature, and the score of each leaf.

>>> from podium.data import make_letor_like
>>> from podium.training import train
>>> data, _ = make_letor_like(20, n_features=4, seed=1)
>>> print(tree_rules(train(data, "lambdamart(num_leaves=3,rounds=1,min_data_in_leaf=30)")))
tree 1
  feature 3 ≤ 0.0827248: -0.125445  (41.7% of documents)
  feature 3 > 0.0827248
    feature 1 ≤ 15.8386: -0.0231965  (32.6% of documents)
    feature 1 > 15.8386: +0.122516  (25.8% of documents)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.errors import IncompatibleError
from podium.scorers.forms import TreesForm
from podium.scorers.trees.forest import NEVER, ZERO, Forest, build
from podium.scorers.trees.lightgbm_text import read_forest

if TYPE_CHECKING:
    from podium.model import Model


def tree_rules(model: Model) -> str:
    """The trees of a model as indented rules with the names of features; a score is the sum over the trees."""
    form = model.form()
    if not isinstance(form, TreesForm):
        raise IncompatibleError(
            f"{model.learner.name} is not made of trees. `podium explain MODEL DATA --shapes` shows what features do."
        )
    forest = read_forest(form.text, form.n_features, exact=form.exact)
    names = _names(model, form.n_features)
    return "\n".join(
        line for t in range(forest.n_trees) for line in [f"tree {t + 1}", *_indented(_rules(forest, t, names))]
    )


def _names(model: Model, width: int) -> list[str]:
    """Names of transformed features: those of their sources, if each has one."""
    transform = model.learner.transform
    if transform.mixes:
        return [f"transformed feature {k + 1}" for k in range(width)]
    named = model.feature_names or tuple(f"feature {l + 1}" for l in range(model.n_features))
    affine = transform.affine(model.state, model.zeros(1))
    same = affine is not None and (affine.scale == 1).all() and (affine.centre == 0).all()
    return [named[l] if same else f"transformed {named[l]}" for l in transform.sources(model.state, model.n_features)]


def _rules(forest: Forest, t: int, names: list[str]) -> list[str]:
    counts = None if forest.cover is None else forest.cover[forest.first_leaf[t] : forest.first_leaf[t + 1]].sum()

    def leaf(k: int) -> list[str]:
        share = "" if forest.cover is None or not counts else f"  ({forest.cover[k] / counts:.1%} of documents)"
        return [f"{forest.values[k]:+.6g}{share}"]

    def split(k: int, left: list[str], right: list[str]) -> list[str]:
        name, cut = names[int(forest.feature[k])], f"{forest.threshold[k]:.6g}"
        aside = {NEVER: "", ZERO: " or 0 or missing"}.get(int(forest.missing[k]), " or missing")
        lower, upper = (aside, "") if forest.nan_left[k] else ("", aside)
        return [*_branch(f"{name} ≤ {cut}{lower}", left), *_branch(f"{name} > {cut}{upper}", right)]

    return build(forest, t, leaf=leaf, split=split)


def _branch(condition: str, below: list[str]) -> list[str]:
    """A condition and what follows from it, on one line if that is a leaf."""
    return [f"{condition}: {below[0]}"] if len(below) == 1 else [condition, *_indented(below)]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
