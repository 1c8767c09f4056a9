"""`podium compare`: several methods on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import console, options, progress
from podium.errors import ExperimentError, ParameterError

if TYPE_CHECKING:
    from podium.data import Fold
    from podium.evaluation import Comparison
    from podium.experiments.spec import Spec
    from podium.metrics import Metric


def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            help="A folder with Fold1, Fold2, … or with train, vali and test; or a file, to be split; or several of "
            "them; or one spec of an experiment (.toml, .yaml); or TREC qrels."
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "--methods",
            help="A method; repeat it or separate by commas; all means every one. Against qrels: a TREC run.",
            show_default=False,
        ),
    ] = None,
    metric: options.Metrics = None,
    preset: options.Preset = None,
    seed: Annotated[
        list[str] | None,
        typer.Option(
            "--seed", "--seeds", help="A seed, 0 if not given; results are averaged over several.", show_default=False
        ),
    ] = None,
    search: options.Search = "grid",
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
    from podium.experiments.spec import ENDINGS, METRICS, make_spec

    if len(data) == 1 and data[0].endswith(ENDINGS):
        flags = {"--method": method, "--metric": metric, "--preset": preset, "--seed": seed, "--search": search}
        do(given(data[0], flags, output=output, jobs=jobs), as_json=as_json)
        return
    if method is None:
        raise ParameterError("Missing option '--method'. See: podium compare --help")
    seeds = read_seeds(console.listed(seed, ["0"]))
    names = console.listed(method, [])
    if len(data) == 1 and Path(data[0]).is_file() and is_qrels(data[0]):
        compare_runs(data[0], names, console.listed(metric, ["ndcg@10", "map"]), preset=preset,
                     seed=seeds[0], output=output, as_json=as_json)  # fmt: skip
        return
    metrics = tuple(console.listed(metric, METRICS))
    rest = {"metrics": metrics, "preset": preset, "seeds": seeds, "search": search, "output": output, "jobs": jobs}
    do(make_spec(data, names, **rest), as_json=as_json)


def given(path: str, flags: Mapping[str, object], *, output: str | None, jobs: int | None) -> Spec:
    """The experiment in a file; only where it goes to and the number of jobs may be said beside it."""
    from podium.experiments.spec import read_spec

    for flag, value in flags.items():
        if value is not None and value != "grid":
            raise ParameterError(f"{flag} beside {path}: write it there. Only -o, --jobs and --json go with a file.")
    spec = read_spec(path)
    return replace(spec, output=output or spec.output, jobs=jobs or spec.jobs)


def read_seeds(words: list[str]) -> tuple[int, ...]:
    """Seeds, each once."""
    for word in words:
        if not word.isdecimal():
            raise ParameterError(f"Invalid value for '--seed': expected a whole number of at least 0; got {word!r}.")
    return tuple(dict.fromkeys(map(int, words)))


def do(spec: Spec, *, as_json: bool) -> None:
    """The comparison on each dataset; with several, also what they tell together."""
    from podium.experiments.spec import write_spec
    from podium.experiments.store import held

    with ExitStack() as stack:
        if spec.output is not None:
            make_folder(spec.output)
            stack.enter_context(held(spec.output))
            write_spec(spec)
        found, errors = do_each(spec, as_json=as_json)
        if len(spec.datasets) > 1 and found:
            show_all(found, output=spec.output, as_json=as_json)
    if errors:
        raise errors[0] if len(errors) == 1 else ExperimentError(" ".join(map(str, errors)), None)


def do_each(spec: Spec, *, as_json: bool) -> tuple[dict[str, Comparison], list[ExperimentError]]:
    """The comparisons by dataset, each shown when it is there; JSON of several is shown at the end."""
    from podium.data import read_folder
    from podium.evaluation import read_metrics

    metrics = read_metrics(spec.metrics, spec.preset)
    found: dict[str, Comparison] = {}
    errors: list[ExperimentError] = []
    for name, place in spec.datasets.items():
        folds = read_folder(place, seed=spec.seeds[0])
        describe(folds, place)
        try:
            one = run(folds, list(spec.methods), metrics, seed=spec.seeds, search=spec.search,
                      output=spec.folder(name), jobs=spec.jobs)  # fmt: skip
        except ExperimentError as error:
            errors.append(error)
            one = error.comparison
        if one is not None:
            found[name] = one
            if len(spec.datasets) == 1 or not as_json:
                show(one, output=spec.folder(name), as_json=as_json)
    return found, errors


def show_all(found: dict[str, Comparison], *, output: str | None, as_json: bool) -> None:
    """What several datasets tell together."""
    from podium.experiments.overview import overview, write_overview

    if output is not None:
        write_overview(found, output)
    if as_json:
        console.print_json({name: one.to_dict() for name, one in found.items()})
        return
    first = str(next(iter(found.values())).metrics[0])
    console.out(f"\n{first} on all datasets")
    console.print_table(*overview(found, first))
    if output is not None:
        console.say(f"wrote {output}: report.html, results.json, table.md, and a folder for each dataset")


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
            ("vali", [fold.valid for fold in folds]),
            ("test", [fold.test for fold in folds]),
        )
    ]
    how = f"{len(folds)} folds" if len(folds) > 1 else "1 fold"
    split = "" if Path(data).is_dir() else ", split by query 60/20/20"
    console.say(f"{data}: {how}{split}; queries: {', '.join(sizes)}; {folds[0].train.n_features} features")
    if any(fold.valid is None for fold in folds):
        console.say("no validation data: every method has its own settings, none is tuned.")


def run(
    folds: list[Fold],
    names: list[str],
    metrics: tuple[Metric, ...],
    *,
    output: str | None,
    seed: Sequence[int] = (0,),
    search: str = "grid",
    jobs: int | None = None,
) -> Comparison:
    """The comparison, with a progress bar; on all cores, unless told how many jobs."""
    from podium.experiments import Seen
    from podium.experiments import compare as compared
    from podium.threads import default_threads

    count = dict.fromkeys(("kept", "done", "failed"), 0)
    total = len(folds) * len(names) * len(seed)
    with progress.progress_bar(total) as bar:

        def watch(seen: Seen) -> None:
            bar.put(str(seen.task), seen.share, finished=seen.state != "running")
            if seen.state != "running":
                count[seen.state] += 1

        try:
            return compared(folds, names, metrics, seed=seed, search=search, folder=output,
                            jobs=jobs or default_threads(), watch=watch)  # fmt: skip
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
