"""Labels of documents that depend on each other, by summing over all labellings."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np


def log_likelihood_and_marginals(node: Any, edge: Any, ends: Any, labels: Any) -> tuple[float, Any]:
    """log P(labels) and P(label) of each document; `edge[e][a][b]` is the potential of labels a, b at edge e."""
    n, n_labels = np.shape(node)

    def energy(y: Any) -> float:
        alone = sum(node[i][y[i]] for i in range(n))
        return alone + sum(edge[e][y[i]][y[j]] for e, (i, j) in enumerate(ends))

    everything = list(itertools.product(range(n_labels), repeat=n))
    total = sum(math.exp(energy(y)) for y in everything)
    marginals = np.zeros((n, n_labels))
    for y in everything:
        marginals[range(n), y] += math.exp(energy(y)) / total
    return energy(labels) - math.log(total), marginals


def pseudo_likelihood(node: Any, edge: Any, ends: Any, labels: Any) -> float:
    """Σ log P(label of i | the labels of the others)."""
    total = 0.0
    for i in range(len(labels)):
        energies = []
        for a in range(np.shape(node)[1]):
            y = [*labels[:i], a, *labels[i + 1 :]]
            alone = sum(node[k][y[k]] for k in range(len(y)))
            energies.append(alone + sum(edge[e][y[j]][y[k]] for e, (j, k) in enumerate(ends)))
        total += energies[labels[i]] - math.log(sum(map(math.exp, energies)))
    return total
