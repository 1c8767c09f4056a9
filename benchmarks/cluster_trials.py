"""Trials of clusters that take minutes, with what came of them.

python -m benchmarks.cluster_trials equal [DATA]     four losses × {linear, mlp} on 1, 2, 3 workers beside one machine
python -m benchmarks.cluster_trials trees [DATA]     trees on 1, 2, 3 workers beside one machine
python -m benchmarks.cluster_trials kill [times [job]]     a worker is killed at random moments of every kind of job

DATA is a file of training data; made-up data without it.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import podium
from benchmarks.made_up import graded
from benchmarks.measured import measured
from podium.data.dataset import Dataset
from podium.distributed import cluster_training as training
from podium.distributed import parts
from podium.distributed.dask_cluster import Cluster
from podium.distributed.tree_worker import enough
from podium.problem import Problem
from podium.recipe import Recipe

WORKERS = (1, 2, 3)
LOSSES = ("listnet", "ranknet", "pmop-fd", "softrank")
SCORERS = {"linear": 0.1, "mlp(hidden=[4])": 1.0}
"""Scorers, and a penalty with which lbfgs converges in the iterations that it has."""
TREES = {
    "ranknet, curvature ≥ {few}": "min_data_in_leaf=0,min_sum_hessian_in_leaf={few}",
    "ranknet, curvature ≥ {many}": "min_data_in_leaf=0,min_sum_hessian_in_leaf={many}",
    "ranknet, 1 document": "min_data_in_leaf=1",
    "ranknet, 20 documents": "min_data_in_leaf=20",
}
JOBS = {
    "lbfgs × linear": "recipe(loss=listnet,scorer=linear,solver=lbfgs(penalty=0.0001,iterations=60,tolerance=1e-12))",
    "adam × mlp": "recipe(loss=listnet,scorer=mlp,solver=adam(epochs=12,batch=50))",
    "trees": "lambdamart(rounds=75,num_leaves=7)",
    "scoring": "",
    "comparisons": "",
}


def equal(data: Dataset) -> None:
    """Parameters on clusters: their bits, and how far they are from one machine's once both are polished."""
    print(f"{'loss':10}{'scorer':18}{'max|Δθ| as found':>18}{'polished':>12}{'|ΔF|':>12}  bits of 1, 2, 3 workers")
    found: dict[tuple[str, str], list[np.ndarray]] = {}
    shifts: dict[tuple[str, str], tuple[float, float, float]] = {}
    for n in WORKERS:
        with Cluster(f"local:{n}") as cluster:
            for pair in ((loss, scorer) for scorer in SCORERS for loss in LOSSES):
                solver = f"lbfgs(penalty={SCORERS[pair[1]]})"
                recipe = Recipe.parse(f"recipe(loss={pair[0]},scorer={pair[1]},solver={solver})")
                theta = cluster.train(data, recipe).params["theta"]
                found.setdefault(pair, []).append(theta)
                if n == WORKERS[-1]:
                    shifts[pair] = beside_one(cluster, recipe, data, theta)
                    same = all(np.array_equal(theta, other) for other in found[pair])
                    shift = "".join(f"{x:{w}.1e}" for x, w in zip(shifts[pair], (18, 12, 12), strict=True))
                    print(f"{pair[0]:10}{pair[1]:18}{shift}  {'the same' if same else 'NOT THE SAME'}", flush=True)


def beside_one(cluster: Cluster, recipe: Recipe, data: Dataset, theta: np.ndarray) -> tuple[float, float, float]:
    """The largest difference of parameters as found and after Newton steps, and of the objective after them."""
    model = podium.train(data, recipe)
    one = Problem(recipe.loss, recipe.scorer, model.learner.transform.apply(model.state, data), recipe.solver.penalty)
    given, bounds = parts.stored(data, cluster), parts.cuts(data)
    raw = cluster.keep(parts.load, parts.pieces(given, bounds), True)
    kept = cluster.keep(parts.transformed, raw, recipe.transform, model.state, recipe.scorer)
    many = training.problem(cluster, recipe, data, model.state, kept, bounds)
    ends = [polished(problem, start, one) for problem, start in ((one, model.params["theta"]), (many, theta))]
    apart = abs(one(ends[0])[0] - one(ends[1])[0])
    return float(abs(model.params["theta"] - theta).max()), float(abs(ends[0] - ends[1]).max()), float(apart)


def polished(problem: Problem, theta: np.ndarray, one: Problem, steps: int = 12) -> np.ndarray:
    """Newton steps until the gradient is at its rounding; the Hessian by central differences, on one machine."""
    best = theta
    for step in range(steps):
        gradient = problem(theta)[1]
        if step % 4 == 0:
            eye, h = np.eye(len(theta)), 1e-5
            hessian = np.array([(one(theta + h * e)[1] - one(theta - h * e)[1]) / (2 * h) for e in eye])
            values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
            bent = abs(values) > 1e-7 * abs(values).max()  # a loss of differences does not see an offset of all scores
            inverse = (vectors[:, bent] / values[bent]) @ vectors[:, bent].T
        theta = best = theta - inverse @ gradient
        if abs(gradient).max() < 1e-15:
            break
    return best


def trees(data: Dataset) -> None:
    """Trees that are equal to one machine's, from the first on, and the largest difference of scores."""
    loss = podium.losses.RankNet().fitted_to(data)
    mean = float(podium.losses.sweep(loss, np.zeros(data.n_documents), data).curvature.mean())
    limits = {"few": f"{5 * mean:.3g}", "many": f"{enough(255) * mean:.3g}"}
    print(f"{'':34}{'workers':>8}{'equal':>8}{'trees':>8}{'max|Δscore|':>14}{'correlation':>14}")
    for n in WORKERS:
        with Cluster(f"local:{n}") as cluster:
            for name, words in TREES.items():
                scorer = f"trees({words.format(**limits)})"
                recipe = f"recipe(loss=ranknet,scorer={scorer},solver=boosting(rounds=30),transform=identity)"
                try:
                    one, many = podium.train(data, recipe), cluster.train(data, recipe)
                except podium.base.errors.IncompatibleError as error:
                    print(f"{name.format(**limits):34}{n:8}  {error}", flush=True)
                    continue
                s, t = one.score(data), many.score(data)
                same = [a == b for a, b in zip(grown(one), grown(many), strict=False)]
                first = same.index(False) if False in same else len(same)
                figures = f"{abs(s - t).max():14.2g}{np.corrcoef(s, t)[0, 1]:14.3f}"
                print(f"{name.format(**limits):34}{n:8}{first:8}{len(same):8}{figures}", flush=True)


def grown(model: Any) -> list[str]:
    """The splits and leaf values of each tree; not the counts of documents, which a cluster estimates."""
    texts = re.findall(r"Tree=\d+\n(.*?)\n\n", model.params["trees"].tobytes().decode(), re.DOTALL)
    counts = ("leaf_count", "internal_count")
    return ["\n".join(line for line in text.splitlines() if not line.startswith(counts)) for text in texts]


def kill(times: int, only: str) -> None:
    """Every kind of job, undisturbed and with a worker killed (SIGKILL) at random moments: is the result the same?"""
    data, chance = graded(300, 40, 20, seed=1), random.Random(0)
    scored = podium.train(data.select(np.arange(100)), "lambdamart(rounds=100)")
    large = graded(4000, 40, 20, seed=2)
    print(f"{'job':18}{'killed':>8}{'recovered':>12}{'same bits':>12}{'seconds':>10}{'killed at':>12}{'longest':>10}")
    with Cluster("local:2") as cluster:
        jobs: dict[str, Callable[[], bytes]] = {
            name: lambda method=method: _bytes(cluster.train(data, method)) for name, method in JOBS.items() if method
        }
        jobs["scoring"] = lambda: cluster.score(scored, large).tobytes()
        jobs["comparisons"] = lambda: _outcomes(cluster.compare(data, ["random", "listnet", "ranknet"], "ndcg@10"))
        for name, job in ((name, job) for name, job in jobs.items() if only in name):
            _kill_job(cluster, name, job, times, chance)


def _kill_job(cluster: Cluster, name: str, job: Callable[[], bytes], times: int, chance: random.Random) -> None:
    job()  # compiles
    start = time.monotonic()
    expected, alone = job(), time.monotonic() - start
    killed = recovered = same = tries = 0
    moments, longest = [], 0.0
    while killed < times and tries < 3 * times:  # a job may end before the stroke
        tries += 1
        cluster.settle(2)
        moment, victims = chance.uniform(0.05, 0.7) * alone, list(cluster._client.run(os.getpid).values())
        stroke = threading.Timer(moment, os.kill, (chance.choice(victims), signal.SIGKILL))
        stroke.start()
        start = time.monotonic()
        try:
            found = job()
            struck = stroke.finished.is_set()
            killed, recovered, same = killed + struck, recovered + struck, same + (struck and found == expected)
        except Exception as error:
            killed += stroke.finished.is_set()
            print(f"  {name}, killed after {moment:.2f} s of {alone:.2f}: {type(error).__name__}: {error}", flush=True)
        longest = max(longest, time.monotonic() - start)
        stroke.cancel()
        moments.append(moment)
    span = f"{min(moments):.1f}–{max(moments):.1f} s"
    print(f"{name:18}{killed:8}{recovered:12}{same:12}{alone:10.1f}{span:>12}{longest:10.1f}", flush=True)


def _bytes(model: Any) -> bytes:
    return b"".join(model.params[name].tobytes() for name in sorted(model.params))


def _outcomes(comparison: Any) -> bytes:
    return b"".join(outcome.values.tobytes() for outcome in comparison.outcomes)


def main(trial: str, word: str = "", job: str = "") -> None:
    if trial == "kill":
        kill(int(word or 10), job)
    else:
        data = podium.read_data(word) if word else graded(63, 40, 20, seed=1)
        {"equal": equal, "trees": trees}[trial](data)
    print(measured(f"python -m benchmarks.cluster_trials {trial}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
