"""Model card: what a model is, how it was trained, what limits it has, and how good it is on data, in Markdown.

>>> from podium.data import make_letor_like
>>> from podium.training import train
>>> data, _ = make_letor_like(20, n_features=4, seed=1)
>>> print(model_card(train(data, "regression"))[:12])
# Model card
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podium.base.errors import counted
from podium.evaluation.evaluate import evaluate
from podium.evaluation.text_tables import markdown_table
from podium.explanation.importance import importance

if TYPE_CHECKING:
    from podium.model import Model

METRICS = ("ndcg@10", "map", "mrr")
_NAMED = 10
"""Most features whose share is listed."""


def model_card(model: Model, data: Any = None) -> str:
    """The card of a model in Markdown, from its own record.

    `data`: a Dataset or a frame with labels, best of queries that the model has not seen; with it the card has metrics
        with 95 % intervals, and the features that matter most.
    `model`: a trained model, whose `info` tells how it came about.
    """
    parts = ["# Model card", markdown_table(["", ""], _facts(model))]
    if data is not None:
        parts += ["## Quality", *_quality(model, data), *_features(model, data)]
    limits = "\n".join(f"- {limit}" for limit in _limits(model))
    return "\n\n".join(part.rstrip() for part in [*parts, "## Limits", limits]) + "\n"


def _facts(model: Model) -> list[list[str]]:
    """Names and values of what the record of the training says."""
    info, names = model.info, model.feature_names or ()
    trials, valid = info.get("trials"), info.get("valid")
    facts = {
        "method": str(model.learner),
        "features": f"{model.n_features}" + (f": {', '.join(names)}" if names else ""),
        "training data": f"digest {info['data']}" if "data" in info else "",
        "clicks": str(info.get("clicks", "")),
        "training ended": str(info.get("stopped", "")),
        "hyperparameters": f"chosen from {counted(len(trials), 'trial')}"
        if trials and isinstance(trials, list)
        else "",
        f"{info.get('metric')} on validation data": f"{valid:.4f}" if isinstance(valid, float) else "",
        "probabilities of ranks": f"{info['distribution']}, temperature {info['temperature']:.3g}"
        if "temperature" in info
        else "none",
        "seed": str(info.get("seed", "")),
        "podium": str(info.get("podium", "")),
    }
    return [[name, value] for name, value in facts.items() if value]


def _quality(model: Model, data: Any) -> list[str]:
    """Table of metrics on data, and whether the model was trained on its queries."""
    table = model.table(data)
    evaluation = evaluate(data, model.score(data), list(METRICS))
    intervals = evaluation.intervals()
    rows = [
        [name, f"{mean.value:.4f}", f"{intervals[name].low:.4f} to {intervals[name].high:.4f}", str(mean.queries)]
        for name, mean in evaluation.means().items()
    ]
    seen = model.seen(table).seen
    number = counted(seen, "query", "queries")
    warning = f"The model was trained on {number} of this data, or more: these figures are too good."
    return [markdown_table(["metric", "mean", "95 % interval", "queries"], rows), *([warning] if seen else [])]


def _features(model: Model, data: Any) -> list[str]:
    found = importance(model, data)
    if found is None:
        return []
    shares, how = found
    names = model.feature_names or [str(number + 1) for number in range(model.n_features)]
    order = (-shares).argsort(kind="stable")[:_NAMED]
    rows = [[names[k], f"{shares[k]:.3f}"] for k in order if shares[k] > 0]
    return ["## Features that matter", markdown_table(["feature", "share"], rows), f"Share: {how}."]


def _limits(model: Model) -> list[str]:
    """Sentences on what the record implies."""
    limits = ["Scores order the documents of one query; they say nothing across queries, unless the method says so."]
    if "valid" in model.info:
        limits.append("The figure on validation data is optimistic, since it chose the model.")
    if "temperature" not in model.info:
        limits.append("There are no probabilities of ranks, since no validation data was there to calibrate them.")
    if model.learner.per_query:
        limits.append("It ranks the documents of a query together: a score changes with the documents next to it.")
    if model.categories:
        limits.append("Values of categories that training data did not have are missing values.")
    return limits
