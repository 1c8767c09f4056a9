"""`podium compare`: several methods on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options, progress

if TYPE_CHECKING:
    from podium.data import Fold
    from podium.evaluation import Comparison
    from podium.metrics import Metric


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="A folder with Fold1, Fold2, … or with train, vali and test; or a file, to be split; or TREC qrels."
        ),
    ],
    method: Annotated[
        list[str],
        typer.Option(
            "--method",
            "--methods",
            help="A method; repeat it or separate by commas; all means every one. Against qrels: a TREC run.",
        ),
    ],
    metric: options.Metrics = None,
    preset: options.Preset = None,
    seed: options.Seed = 0,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A folder for models, tables and per-query values.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Processes to work side by side; as many as there are cores if not given.", min=1),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compare methods: train on train, tune and stop on vali, report on test; over all folds.

    The first metric tunes; without -m it is ndcg@10, and ndcg@5, @3, @1 and map are reported too. With -o, an
    interrupted comparison goes on where it ended when the same command is given again. Against qrels, the methods are
    TREC runs.
    """
    from podium.cli.evaluate import is_qrels
    from podium.data import read_folder
    from podium.errors import ExperimentError
    from podium.evaluation import read_metrics
    from podium.methods import METHODS
    from podium.methods import method as named

    if Path(data).is_file() and is_qrels(data):
        compare_runs(data, console.listed(method, []), console.listed(metric, ["ndcg@10", "map"]), preset=preset,
                     seed=seed, output=output, as_json=as_json)  # fmt: skip
        return
    names = [name for word in console.listed(method, []) for name in (METHODS if word == "all" else [word])]
    for name in names:
        named(name)
    metrics = read_metrics(console.listed(metric, ["ndcg@10", "ndcg@5", "ndcg@3", "ndcg@1", "map"]), preset)
    if output is not None:
        make_folder(output)
    folds = read_folder(data, seed=seed)
    describe(folds, data)
    try:
        found = run(folds, list(dict.fromkeys(names)), metrics, seed=seed, output=output, jobs=jobs)
    except ExperimentError as error:
        if error.comparison is not None:
            show(error.comparison, output=output, as_json=as_json)
        raise
    show(found, output=output, as_json=as_json)


def show(found: Comparison, *, output: str | None, as_json: bool) -> None:
    """Print what came out, and say where the files are."""
    if as_json:
        console.print_json(found.to_dict())
        return
    print_comparison(found)
    if output is not None:
        console.say(
            f"wrote {output}: report.html, results.json, provenance.json, table.md, table.tex, per_query.tsv, models/"
        )


def compare_runs(
    qrels: str,
    runs: list[str],
    metrics: list[str],
    *,
    preset: str | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """A table per metric: the runs from the best down; those who share a letter do not differ by more than chance."""
    from podium.data.trec import read_qrels, read_run
    from podium.errors import ParameterError
    from podium.evaluation.compare_runs import compare_runs as compared
    from podium.evaluation.report import shown

    if output is not None:
        raise ParameterError("-o keeps models and folds, which runs have not. Leave it out, or print --json.")
    found = compared(read_qrels(qrels), {run: read_run(run) for run in runs}, metrics, preset=preset, seed=seed)
    if as_json:
        console.print_json({metric: one.to_dict() for metric, one in found.items()})
        return
    for metric, one in found.items():
        letters = one.letters or {}
        rows = [
            [name, shown(system.mean), shown(system.interval.low), shown(system.interval.high), letters.get(name, "")]
            for name, system in one.systems.items()
        ]
        console.print_table(["run", metric, "from", "to", "letters"], rows)
    console.say("from, to: 95 % intervals; runs that share a letter do not differ significantly (Holm, α = 0.05)")


def make_folder(output: str) -> None:
    """Make the folder for results before work starts."""
    target = Path(output)
    if not target.is_dir():
        console.check_folder(Path(target.absolute()).parent, given=output)
        target.mkdir(exist_ok=False)
    console.check_folder(target, given=output)


def describe(folds: list[Fold], data: str) -> None:
    """Say what is compared on."""
    sizes = [
        f"{part} {sum(d.n_queries for d in found if d is not None)}"
        for part, found in (
            ("train", [fold.train for fold in folds]),
            ("vali", [fold.vali for fold in folds]),
            ("test", [fold.test for fold in folds]),
        )
    ]
    how = f"{len(folds)} folds" if len(folds) > 1 else "1 fold"
    split = "" if Path(data).is_dir() else ", split by query 60/20/20"
    console.say(f"{data}: {how}{split}; queries: {', '.join(sizes)}; {folds[0].train.n_features} features")
    if any(fold.vali is None for fold in folds):
        console.say("no validation data: every method has its own settings, none is tuned.")


def run(
    folds: list[Fold],
    names: list[str],
    metrics: tuple[Metric, ...],
    *,
    seed: int,
    output: str | None,
    jobs: int | None = None,
) -> Comparison:
    """The comparison, with a progress bar; on all cores, unless told how many jobs."""
    from podium.experiments import Seen
    from podium.experiments import compare as compared
    from podium.threads import default_threads

    count = dict.fromkeys(("kept", "done", "failed"), 0)
    total = len(folds) * len(names)
    with progress.progress_bar(total) as bar:

        def watch(seen: Seen) -> None:
            bar.put(str(seen.task), seen.share, finished=seen.state != "running")
            if seen.state != "running":
                count[seen.state] += 1

        try:
            return compared(
                folds, names, metrics, seed=seed, folder=output, jobs=jobs or default_threads(), watch=watch
            )
        except KeyboardInterrupt:
            if output is not None:
                kept = count["kept"] + count["done"]
                console.say(f"{kept} of {total} are kept in {output}; the same command goes on from there.")
            raise
        finally:
            if count["kept"]:
                console.say(f"{count['kept']} of {total} were found in {output} and not done again.")


def print_comparison(found: Comparison) -> None:
    """The table: a row per method, best first; the best of each metric is bold."""
    from podium.evaluation.report import SPREAD, beside_published, summary

    heads, rows = summary(found)
    numbers = [c for c in range(1, len(heads) - 2) if heads[c] != SPREAD]
    best = [(r, c) for c in numbers for r, row in enumerate(rows) if row[c] == max(other[c] for other in rows)]
    console.print_table(heads, rows, best=best)
    console.say("means: " + ", ".join(metric.tag() for metric in found.metrics))
    skipped = {
        f"{metric}: {average.skipped} of {average.queries + average.skipped}"
        for name in found.by_method
        for metric, average in zip(found.metrics, found.pooled(name), strict=True)
        if average.skipped
    }
    if skipped:
        console.say(f"queries skipped, with nothing relevant: {'; '.join(sorted(skipped))}")
    beside = beside_published(found)
    if beside is not None:
        table, known = beside
        console.print_table(*table)
        console.say(f"published figures of {known.name}: {'; '.join(known.sources)}")
