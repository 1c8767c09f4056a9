"""Base of pmop-gibbs and pmop-mh: ordered partitions, the gradient of the likelihood estimated by a Markov chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.registry import param
from podium.distributions import OrderedPartitions
from podium.losses.base import Loss


@dataclass(frozen=True, repr=False)
class SampledPartitions(Loss):
    """Likelihood of pmop-exact, its gradient estimated by `samples` moves of a Markov chain per block."""

    backward: bool = False
    """Whether blocks are chosen from the worst on."""
    samples: int = param(default=3, least=1)
    """Moves of the Markov chain for each block."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    surrogate: ClassVar[str | None] = "the contrast with the current subsets held fixed"

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Contrast of other scores with the subsets of these: it is linear."""
        slopes = self(scores, labels).gradient
        return lambda moved: float(slopes @ moved)

    def rank_distribution(self) -> tuple[OrderedPartitions, float]:
        return OrderedPartitions(backward=self.backward), 1.0
