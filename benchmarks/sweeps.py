"""Value, gradient and curvature of every loss over 6,000 queries of 120 documents, on one thread.

Rax is asked for value and gradient of the same losses, compiled by JAX on the same arrays in single precision, where it
has them. "Prototype" is what a throw-away kernel reached on another machine, times how much longer RankNet takes here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.contest import Contest, timed
from benchmarks.made_up import scored
from benchmarks.peers import peer
from podium.losses import Loss, sweep

MORE = ["lambdarank(metric=ndcg)", "lambdarank(metric=map)"]
RANKNET = 33.0
REACHED = {  # CPU ms of throw-away kernels that did nothing else, on a machine where that of ranknet took 33
    "lambdarank": 20, "lambdarank(metric=ndcg)": 45, "hinge": 23, "listnet": 2.4, "listmle": 14,
    "apprank": 66, "softrank": 771,
}  # fmt: skip


def contests(*, quick: bool) -> Iterator[Contest]:
    queries, documents = (600 if quick else 6_000), 120
    data, scores = scored(queries, documents)
    for name in [*Loss.catalogue(), *MORE]:
        loss = Loss.parse(name)
        if loss.grades is None:
            continue
        work = functools.partial(sweep, loss, scores, data, threads=1)
        reached = REACHED.get(name)
        peers = {"Rax": rax(name, scores, data)}
        if reached is not None:
            peers["prototype"] = prototype(reached, scores, data)
        yield Contest(
            f"{name}: value, gradient, curvature of {queries:,} × {documents}",
            lambda work=work: work() and None,
            peers,
            goal="≤ 1.3 × the prototype" if reached else "",
            least_ratio=1.0 / 1.3 if reached else None,
            repeats=5,
        )


def prototype(reached: float, scores: Any, data: Any) -> Any:
    """What the prototype would take here: as much more as RankNet takes now."""
    ranknet = functools.partial(sweep, Loss.parse("ranknet"), scores, data, threads=1)
    ranknet()

    def scaled() -> dict[str, float]:
        took = timed(lambda: ranknet() and None)
        return {clock: seconds * reached / RANKNET for clock, seconds in took.items()}

    return scaled


def rax(name: str, scores: Any, data: Any) -> Any:
    """Rax's loss of the same name on padded arrays, value and gradient."""
    if name not in RAX:
        return "has no such loss"
    here, jax = peer("rax"), peer("jax")
    if isinstance(here, str) or isinstance(jax, str):
        return "not installed"
    n = int(data.sizes[0])
    s, y = (jax.numpy.asarray(x.reshape(-1, n), jax.numpy.float32) for x in (np.asarray(scores), data.labels))
    loss = getattr(here, RAX[name][0])
    options = {"lambdaweight_fn": here.dcg_lambdaweight} if RAX[name][1] else {}
    whole = jax.jit(jax.value_and_grad(lambda s: loss(s, y, **options)))
    return lambda: whole(s)[0].block_until_ready() and None


RAX = {
    "ranknet": ("pairwise_logistic_loss", False),
    "hinge": ("pairwise_hinge_loss", False),
    "listnet": ("softmax_loss", False),
    "listmle": ("listmle_loss", False),
    "lambdarank(metric=ndcg)": ("pairwise_logistic_loss", True),
}
