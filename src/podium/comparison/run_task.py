"""Run one task of a comparison: train and tune a method on a fold, and evaluate it on the test data."""

from __future__ import annotations

from podium.base.errors import PodiumError
from podium.base.progress import Progress
from podium.comparison.plan import Plan, Task
from podium.comparison.provenance import timed
from podium.evaluation.compare import Outcome
from podium.evaluation.details import History, details
from podium.evaluation.evaluate import evaluate, query_names
from podium.jit.tiers import machine_code
from podium.methods import method
from podium.training import TrainingProgress, train


@machine_code()
def run_task(plan: Plan, task: Task, *, detailed: bool, progress: Progress) -> Outcome:
    """Train and evaluate a method on a fold. `progress` is called after each iteration."""
    fold = plan.fold(task)
    assert fold.test is not None, "checked before work started"
    history = History()
    steps = TrainingProgress(1 if fold.valid is None else plan.search.fits(method(task.method)), progress)
    with timed() as provenance:
        model = train(
            fold.train,
            task.method,
            valid=fold.valid,
            metric=plan.tune_by,
            seed=task.seed,
            search=plan.search,
            observers=(steps.record, history.record),
        )
    scores = model.score(fold.test)
    return Outcome(
        method=task.method,
        fold=task.fold,
        learner=repr(model.learner),
        info=dict(model.info),
        seconds=provenance["seconds"],
        query_ids=query_names(fold.test),
        values=evaluate(fold.test, scores, plan.metrics).values,
        model=model,
        details=details(model, fold, scores, metrics=plan.metrics, history=history) if detailed else {},
        seed=task.seed,
        provenance={**provenance, "data": plan.digests(task)},
    )


def error_text(error: BaseException) -> str:
    """Message of an error, with its type unless it is podium's."""
    words = " ".join(str(error).split())
    return words if isinstance(error, PodiumError) else f"{type(error).__name__}: {words}"
