"""The form of a mean of models: one linear model, or one sum of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from podium.scorers.forms import Form, LinearForm, TreesForm
from podium.scorers.trees.forest import Forest
from podium.scorers.trees.lightgbm_text import read_forest, write_forest


def mean_form(forms: list[Form | None]) -> Form | None:
    """The mean of forms of one kind; None if they are of several kinds, or of one that has no mean."""
    if len(forms) == 1:
        return forms[0]
    if all(isinstance(form, LinearForm) for form in forms):
        linear = cast("list[LinearForm]", forms)
        offset = float(np.mean([form.offset for form in linear]))
        return LinearForm(np.mean([form.weights for form in linear], axis=0), offset)
    if all(isinstance(form, TreesForm) for form in forms):
        return _mean_of_trees(cast("list[TreesForm]", forms))
    return None


def _mean_of_trees(forms: list[TreesForm]) -> TreesForm | None:
    if len({(form.n_features, form.exact) for form in forms}) > 1:
        return None
    n_features, exact = forms[0].n_features, forms[0].exact
    forests = [read_forest(form.text, n_features, exact=exact) for form in forms]
    text = np.frombuffer(write_forest(_joined(forests, 1.0 / len(forms))), np.uint8)
    return TreesForm(text, n_features, exact)


def _joined(forests: list[Forest], share: float) -> Forest:
    """All trees in one forest, their values times `share`."""
    splits = np.concatenate([np.diff(forest.first_split) for forest in forests])
    leaves = np.concatenate([np.diff(forest.first_leaf) for forest in forests])
    covers = [forest.cover for forest in forests if forest.cover is not None]
    return replace(
        forests[0],
        first_split=np.append(0, np.cumsum(splits)),
        first_leaf=np.append(0, np.cumsum(leaves)),
        feature=np.concatenate([forest.feature for forest in forests]),
        threshold=np.concatenate([forest.threshold for forest in forests]),
        left=np.concatenate([forest.left for forest in forests]),
        right=np.concatenate([forest.right for forest in forests]),
        missing=np.concatenate([forest.missing for forest in forests]),
        missing_left=np.concatenate([forest.missing_left for forest in forests]),
        values=share * np.concatenate([forest.values for forest in forests]),
        cover=np.concatenate(covers) if len(covers) == len(forests) else None,
        gain=None,
    )
