"""Forms: what a fitted model is made of, as plain arrays. `Learner.form` says it; explaining and exporting read it.

A form describes scores as a function of the transformed features. A model of no such form (a comparison network, a sum
over training documents, a foreign module) has None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from podium.base.arrays import Array


@dataclass(frozen=True, eq=False)
class LinearForm:
    """f(x) = ⟨w, x⟩ + b."""

    weights: Array  # (d,)
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class TreesForm:
    """A sum of regression trees, as LightGBM's text."""

    text: NDArray[Any]  # bytes
    n_features: int
    exact: bool = False  # whether values next to 0 are themselves; LightGBM takes them for 0


@dataclass(frozen=True, eq=False)
class StumpsForm:
    """A sum over thresholds: f(x) = Σ_t α_t·[x_l(t) > c_t], and α_t·m_t where the value is missing."""

    feature: NDArray[Any]  # (T,)
    threshold: Array  # (T,)
    alpha: Array  # (T,)
    missing: Array  # (T,) what [x > c] counts as where x is missing


@dataclass(frozen=True, eq=False)
class NetForm:
    """Layers x → a(x·W + b); the last one without the activation a."""

    layers: tuple[tuple[Array, Array], ...]
    activation: Literal["tanh", "relu"]


@dataclass(frozen=True, eq=False)
class KernelForm:
    """The mean label of reference documents, each weighted by exp(−½ Σ_l a_l²(x_l − x_il)²)."""

    widths: Array  # (d,)
    features: NDArray[Any]  # (n, d)
    labels: Array  # (n,)


Form = LinearForm | TreesForm | StumpsForm | NetForm | KernelForm
