"""Do odds come true? Calibration of methods on the test queries of a dataset's folds.

    python -m benchmarks.calibration FOLDER [-o docs/calibration.svg]

FOLDER holds Fold1, Fold2, … with train, vali and test files, as LETOR's datasets do. Each method is trained with its
validation fold, which also gives the temperature. Prints what became of the odds of test queries, for the distribution
that `Model.distribution` gives, and for others (marked *), to show why it does not give those, as a Markdown table.
With -o it draws reliability diagrams, which needs matplotlib.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks.measured import measured
from podium.data import Dataset, Fold
from podium.distributions import Boltzmann, PlackettLuce, ReversePlackettLuce, Thurstone
from podium.distributions.temperature import fit_temperature
from podium.evaluation.calibration import Bin, Calibration, calibration
from podium.formats import read_folder
from podium.losses import PMOPFD, BoltzRank, ListMLE, ListNet, Loss, SoftRank
from podium.model import Model
from podium.odds import Odds
from podium.training import train

METHODS = [
    "listnet", "listmle", "ranknet", "ranking-svm", "lambdamart", "softrank", "boltzrank", "pmop-fd", "pairties-d"
]  # fmt: skip
GIVEN, PLAIN, OWN, TIES = "given", "\\* Plackett–Luce, T fitted", "\\* its own, as trained", "its own, with ties"
HEADS = [
    "method", "distribution", "log loss", "Brier score", "calibration error", "90 % intervals hold",
    "ranks wide", "given above 70 %", "came first", "documents",
]  # fmt: skip
Pooled = dict[str, list[Calibration]]


def main(folder: str, output: str | None = None) -> None:
    folds, drawn = read_folder(folder), {}
    print_cells(HEADS)
    print_cells(["---"] * len(HEADS))
    for method in METHODS:
        found: Pooled = {}
        fitted = []
        for fold in folds:
            model = train(fold.train, method, valid=fold.valid)
            fitted.append(model.info)
            for name, odds in distributions(model, fold).items():
                found.setdefault(name, []).append(calibration(odds, fold.test))
        if not drawn:
            parts = [replace(p, log_loss=p.log_loss_even, brier=p.brier_even) for p in found[GIVEN]]
            print_cells(["", "even chances", *figures(parts)[:2], *[""] * 6])
        for name, parts in found.items():
            given = name == GIVEN
            print_cells([method if given else "", words_of(fitted) if given else name, *figures(parts)])
        drawn[method] = found
    print(f"\n{measured('python -m benchmarks.calibration OHSUMED -o docs/calibration.svg')}")
    if output is not None:
        draw(drawn, output)
        print(f"wrote {output}")


def words_of(fitted: list[dict[str, Any]]) -> str:
    """The distribution that was fitted on validation data, with the number of folds where these differ."""
    n, turned = len(fitted), sum(info["distribution"] == repr(ReversePlackettLuce()) for info in fitted)
    chosen = {"reverse Plackett–Luce": turned, "Plackett–Luce": n - turned}
    return " or ".join(name if k == n else f"{name} ({k} of {n} folds)" for name, k in chosen.items() if k)


def distributions(model: Model, fold: Fold) -> dict[str, Odds]:
    """The odds of test queries: those that the model gives, those with ties if it has them, and others, marked *."""
    test, loss = fold.test, getattr(model.learner, "loss", None)
    odds, scores, valid = model.distribution(test), model.score(test), model.score(fold.valid)
    plain = fit_temperature(valid, fold.valid, tried=(PlackettLuce(),)).temperature
    found = {GIVEN: odds, PLAIN: replace(odds, distribution=PlackettLuce(), scores=scores / plain)}
    own = own_distribution(loss)
    if own is not None and own.has_ties:
        found[TIES] = model.distribution(test, with_ties=True)
    elif own is not None:
        found[OWN] = replace(odds, distribution=own, scores=scores)
    elif loss is not None and loss.name == "ranknet":
        for name, cost in {"tie orders": ListMLE(), "pmop-fd": PMOPFD()}.items():
            changed = scores / temperature_by(cost, valid, fold.valid)
            found[f"\\* Plackett–Luce, T by {name}"] = replace(odds, distribution=PlackettLuce(), scores=changed)
    return found


def own_distribution(loss: Any) -> Any:
    """The distribution that a loss is about, also where training does not make it likely; None where there is none."""
    if isinstance(loss, SoftRank):
        return Thurstone(sigma=loss.sigma)
    if isinstance(loss, BoltzRank):
        return Boltzmann(alpha=loss.alpha)
    if isinstance(loss, ListNet):
        return PlackettLuce()
    known = loss.rank_distribution() if isinstance(loss, Loss) else None
    return None if known is None else known[0]


def temperature_by(loss: Loss, scores: Any, data: Dataset) -> float:
    """The temperature at which another loss on validation data is least."""
    cuts = list(zip(data.offsets[:-1], data.offsets[1:], strict=True))

    def cost(log_sharpness: float) -> float:
        return sum(loss(np.exp(log_sharpness) * scores[a:b], data.labels[a:b]).value for a, b in cuts)

    centre = -np.log(np.mean([scores[a:b].std() for a, b in cuts]))
    return float(np.exp(-minimize_scalar(cost, bounds=(centre - 5, centre + 5), method="bounded").x))


def figures(parts: list[Calibration]) -> list[str]:
    """The cells of all folds together, weighted by their documents."""
    documents = [part.documents for part in parts]

    def mean(of: Callable[[Calibration], float]) -> float:
        return float(np.average([of(part) for part in parts], weights=documents))

    bins = pool(parts)
    error = sum(one.documents * abs(one.observed - one.predicted) for one in bins) / sum(documents)
    return [
        f"{mean(lambda part: part.log_loss):.4f}".replace("inf", "∞"), f"{mean(lambda part: part.brier):.4f}",
        f"{error:.4f}", f"{100 * mean(lambda part: part.coverage):.1f} %", f"{mean(lambda part: part.width):.1f}",
        *above(bins, 0.7),
    ]  # fmt: skip


def print_cells(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def above(bins: list[Bin], least: float) -> tuple[str, str, str]:
    """The mean chance of the documents given more than `least`, the share of them that came first, their number."""
    high = [one for one in bins if one.low >= least]
    n = np.array([one.documents for one in high])
    if not n.sum():
        return "", "", "0"
    given, came = (float(np.average([getattr(one, key) for one in high], weights=n)) for key in KEYS)
    error = np.linalg.norm(n * [one.standard_error for one in high]) / n.sum()
    return f"{given:.3f}", f"{came:.3f} ± {error:.3f}", str(n.sum())


def pool(parts: list[Calibration]) -> list[Bin]:
    """The bins of all folds together."""
    found = []
    for low, high in sorted({(one.low, one.high) for part in parts for one in part.bins}):
        mine = [one for part in parts for one in part.bins if one.low == low]
        n = np.array([one.documents for one in mine])
        predicted, observed = (float(np.average([getattr(one, key) for one in mine], weights=n)) for key in KEYS)
        error = np.linalg.norm(n * [one.standard_error for one in mine]) / n.sum()
        found.append(Bin(low, high, int(n.sum()), predicted, observed, float(error)))
    return found


KEYS = ("predicted", "observed")
STYLES = {GIVEN: ("#d1711f", "o"), OWN: ("#3b6ea5", "s"), TIES: ("#3b6ea5", "s")}
NAMES = {GIVEN: "the odds that podium gives", OWN: "the loss's own distribution", TIES: "the loss's own distribution"}


def draw(drawn: dict[str, Pooled], output: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "podium"
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 3, figsize=(8.4, 8.6), sharex=True, sharey=True, layout="constrained")
    known = {}
    for axes, (method, found) in zip(panels.flat, drawn.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1)
        for name, (colour, mark) in STYLES.items():
            bins = [one for one in pool(found.get(name, [])) if one.documents >= 10]
            for one in bins:
                ends = one.observed + np.array([-2, 2]) * one.standard_error
                axes.plot([one.predicted] * 2, np.clip(ends, 0, 1), color=colour, linewidth=1, alpha=0.6)
            x, y = [one.predicted for one in bins], [one.observed for one in bins]
            known[NAMES[name]] = axes.plot(x, y, mark, color=colour, markersize=4.5)[0]
        axes.set(title=method, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("chance given to a document to come first")
    figure.supylabel("share that came first, ± 2 standard errors")
    figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(output, metadata={"Date": None})


if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[0], *(words[2:3] if words[1:2] == ["-o"] else ()))
