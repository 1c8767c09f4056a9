"""Grades from the scores of a committee's members: a rising curve, fitted to the queries that a member did not see.

grade-range   (2,) the lowest and the highest grade of the training data
grade-curve   (2, K) z-scores in the query, and the grade expected at each; not there if scores are grades already

Between its points the curve is linear, so that no small difference between members is lost.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.ensembles.combining import zscores
from podium.kernels.check_gains import check_gains
from podium.learner import fitted
from podium.scorers import Params


def fit_grades(scores: Array, absent: Flags, data: Dataset, *, are_grades: bool) -> Params:
    """Parameters of `grades_of`, from scores of the training data by member, and which queries each did not see."""
    labels = data.labels
    if labels is None or not len(labels):
        return {}
    params: Params = {"grade-range": np.array([labels.min(), labels.max()])}
    if are_grades:
        return params
    z = np.stack([zscores(data.added_to_base(own), data.offsets) for own in scores])
    unseen = absent[:, data.query_index]
    if not unseen.any():  # of so few queries that every member saw all: a curve that is too steep is better than none
        unseen[:] = True
    member, row = np.nonzero(unseen)
    return params | {"grade-curve": _rising(z[member, row], labels[row])}


def grades_of(params: Params, scores: Array, data: Dataset) -> Array:
    """Grades of documents from the members' scores, within the range of the training data."""  # (B, N)
    if "grade-range" not in params:
        raise IncompatibleError(
            "the model knows no grades: it was trained on preferences or clicks, or by an older podium. Train it on "
            "grades: podium train --method 'bagged(of=…)'."
        )
    low, high = fitted(params, "grade-range", (2,)).tolist()
    check_gains("a picker", np.array([low, high]), negative=True)
    if "grade-curve" not in params:
        return np.stack([np.clip(data.added_to_base(own), low, high) for own in scores])
    places, grades = fitted(params, "grade-curve", (2, None))
    if not len(places) or not (np.diff(places) > 0).all():
        raise ModelFileError("The model's curve of grades is damaged. Train it again.")
    return np.stack([np.interp(zscores(data.added_to_base(own), data.offsets), places, grades) for own in scores])


def _rising(z: Array, grades: Array) -> Array:
    """Isotonic regression of grades on z-scores: the centre of each block of equal values, and the value."""  # (2, K)
    from scipy.optimize import isotonic_regression

    places, at = np.unique(z, return_inverse=True)
    counts = np.bincount(at).astype(np.float64)
    fit = isotonic_regression(np.bincount(at, weights=grades) / counts, weights=counts)
    starts = np.asarray(fit.blocks)[:-1]
    centres = np.add.reduceat(places * counts, starts) / np.add.reduceat(counts, starts)
    return np.stack([centres, np.asarray(fit.x)[starts]])
