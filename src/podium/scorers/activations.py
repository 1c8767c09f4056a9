"""Activations of networks, with their slopes: tanh, relu, elu, selu, gelu (by tanh) and silu.

    elu(z) = z, or e^z − 1 below 0;  selu(z) = λ·z, or λα(e^z − 1) below 0;  silu(z) = z·σ(z) = ½z(1 + tanh(½z))
    gelu(z) = ½z(1 + tanh(√(2/π)(z + 0.044715z³))), the form by tanh that JAX takes by default

Reference: Clevert et al. 2016 (elu); Klambauer et al. 2017 (selu); Hendrycks and Gimpel 2016 (gelu, silu).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from podium.kernels.exponentials import tanh

Activation = Literal["tanh", "relu", "elu", "selu", "gelu", "silu"]

SELU_SCALE, SELU_BELOW = 1.0507009873554805, 1.0507009873554805 * 1.6732632423543772
"""λ and λα, for which layers of normal numbers keep mean 0 and variance 1."""
GELU_SCALE, GELU_CUBE = math.sqrt(2.0 / math.pi), 0.044715


def activate(activation: Activation, z: Any, slope: Any = None) -> None:
    """Replace z by a(z), and fill `slope` with a'(z) if it is there; both float64, or both float32."""
    if activation == "relu":
        np.maximum(z, 0, out=z)
        if slope is not None:
            np.greater(z, 0, out=slope)
    elif activation == "tanh":
        _tanh(z)
        if slope is not None:
            np.multiply(z, z, out=slope)
            np.subtract(1, slope, out=slope)
    elif activation in ("elu", "selu"):
        above, below = (1.0, 1.0) if activation == "elu" else (SELU_SCALE, SELU_BELOW)
        _bent(z, slope, z.dtype.type(above), z.dtype.type(below))
    else:
        _gated(activation, z, slope)


def _bent(z: Any, slope: Any, above: Any, below: Any) -> None:
    """Above 0 `above`·z, else `below`·(e^z − 1)."""
    rising = z > 0
    bent = below * np.expm1(np.minimum(z, 0))
    if slope is not None:
        slope[:] = np.where(rising, above, bent + below)
    z[:] = np.where(rising, above * z, bent)


def _gated(activation: Activation, z: Any, slope: Any) -> None:
    """½z(1 + t), t = tanh(u(z)); its slope is ½(1 + t) + ½z(1 − t²)u'(z)."""
    half, kind = z.dtype.type(0.5), z.dtype.type
    with np.errstate(over="ignore", invalid="ignore"):  # z³ may be infinite, and tanh of it is 1
        gate = half * z if activation == "silu" else kind(GELU_SCALE) * (z + kind(GELU_CUBE) * z * z * z)
        _tanh(gate)
        if slope is not None:
            bend = half if activation == "silu" else kind(GELU_SCALE) * (1 + kind(3 * GELU_CUBE) * z * z)
            slope[:] = half * (1 + gate) + half * np.where(np.abs(gate) < 1, z * (1 - gate * gate) * bend, 0)
    z *= half * (1 + gate)


def _tanh(z: Any) -> None:
    tanh(z.reshape(-1)) if z.dtype == np.float64 else np.tanh(z, out=z)
