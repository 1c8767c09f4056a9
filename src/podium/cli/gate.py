"""Gate of `podium evaluate`: conditions that a run must meet, a summary in Markdown, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from podium.base.errors import ParameterError
from podium.cli import console

if TYPE_CHECKING:
    from podium.evaluation.by_segment import Segments
    from podium.evaluation.evaluate import Evaluation
    from podium.evaluation.gate import GateCheck
    from podium.metrics import Metric


@dataclass(frozen=True)
class Gate:
    """The conditions of a command line."""

    limits: dict[Metric, float]
    base: str | None
    margin: float | None
    alpha: float

    @staticmethod
    def read(
        at_least: list[str] | None, base: str | None, *, margin: float | None, alpha: float, preset: str | None
    ) -> Gate:
        """Read the options; an error if one makes no sense."""
        from podium.evaluation.gate import read_limit

        if margin is not None and base is None:
            raise ParameterError("--margin is for --not-worse-than RUN.")
        limits = dict(read_limit(part, preset) for part in console.split_option(at_least, []))
        return Gate(limits, base, margin, alpha)

    def check_options(self, names: list[str]) -> None:
        """An error if there are conditions and several runs, or the run cannot be compared with the base."""
        if (self.limits or self.base is not None) and len(names) != 1:
            raise ParameterError(f"--at-least and --not-worse-than check one run; got {len(names)}.")
        if self.base is not None and (self.base in names or "-" in (self.base, *names)):
            why = "it is the run itself" if self.base in names else "standard input is read once; write it to a file"
            raise ParameterError(f"--not-worse-than {self.base}: {why}.")

    def with_metrics(self, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """The metrics to evaluate: those asked for, and those with a limit."""
        return tuple(dict.fromkeys((*metrics, *self.limits)))

    def checks(
        self,
        evaluated: Callable[[list[str], tuple[Metric, ...]], Mapping[str, Evaluation]],
        evaluations: Mapping[str, Evaluation],
        metrics: tuple[Metric, ...],
    ) -> list[GateCheck]:
        """Check every condition; the run is compared with the base on the queries that one of them answers.

        `evaluated` evaluates files by metrics.
        """
        from podium.evaluation.gate import at_least, not_worse

        name, evaluation = next(iter(evaluations.items()))
        checks = at_least(evaluation, {str(metric): limit for metric, limit in self.limits.items()})
        if self.base is None:
            return checks
        both = evaluated([name, self.base], self.with_metrics(metrics))
        options = {"margin": self.margin, "alpha": self.alpha}
        return [*checks, *not_worse(both[name], both[self.base], name=self.base, **options)]  # type: ignore[arg-type]


def write_summary(
    path: str, evaluations: Mapping[str, Evaluation], segments: Mapping[str, Segments], checks: list[GateCheck]
) -> None:
    """Append the results to a file in Markdown."""
    from podium.evaluation.segment_texts import evaluation_markdown

    text = evaluation_markdown(evaluations, segments, checks)
    with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def fail_if_not_passed(checks: list[GateCheck]) -> None:
    """Say which conditions are met; exit with code 1 if one is not."""
    failed = [check.words for check in checks if not check.passed]
    if failed:
        console.say(f"podium: gate failed: {'; '.join(failed)}.")
        raise SystemExit(1)
    if checks:
        console.say(f"gate passed: {'; '.join(check.words for check in checks)}.")
