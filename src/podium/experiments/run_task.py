"""Work: one task of an experiment: train and tune, judge on test data, and keep what came out."""

from __future__ import annotations

from collections.abc import Callable

from podium.errors import PodiumError
from podium.evaluation.compare import Outcome
from podium.evaluation.details import History, details
from podium.evaluation.evaluate import evaluate, query_names
from podium.experiments.plan import Plan, Task
from podium.experiments.provenance import measured
from podium.methods import method
from podium.training import Progress, train


def work(plan: Plan, task: Task, *, detailed: bool, tell: Callable[[float], None]) -> Outcome:
    """What a method does on a fold. `tell` hears the share that is done, from time to time."""
    fold = plan.fold(task)
    assert fold.test is not None, "checked before work started"
    history = History()
    progress = Progress(1 if fold.valid is None else plan.search.fits(method(task.method)), tell)
    with measured() as provenance:
        model = train(
            fold.train,
            task.method,
            valid=fold.valid,
            metric=plan.metrics[0],
            seed=task.seed,
            search=plan.search,
            observers=(progress.record, history.record),
        )
    scores = model.score(fold.test)
    return Outcome(
        method=task.method,
        fold=task.fold,
        learner=repr(model.learner),
        info=model.info,
        seconds=provenance["seconds"],
        query_ids=query_names(fold.test),
        values=evaluate(fold.test, scores, plan.metrics).values,
        model=model,
        details=details(model, fold, scores, metrics=plan.metrics, history=history) if detailed else {},
        seed=task.seed,
        provenance={**provenance, "data": plan.digests(task)},
    )


def error_text(error: BaseException) -> str:
    """What went wrong, with its kind where it is not one of podium's own errors."""
    words = " ".join(str(error).split())
    return words if isinstance(error, PodiumError) else f"{type(error).__name__}: {words}"
