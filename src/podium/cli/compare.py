"""`podium compare`: several methods on the same folds, or several runs against the same judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import ComparisonError, ParameterError
from podium.cli import clusters, console, options
from podium.cli.compare_runs import compare_runs
from podium.cli.judged import Columns, holds_qrels

if TYPE_CHECKING:
    from podium.comparison import Spec
    from podium.evaluation.compare import Comparison


def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA… | SPEC | QRELS RUN… | INDEX",
            help="A folder with Fold1, Fold2, … or with train, vali and test; or a file, to be split; or several of "
            "them; or one spec of a comparison (.toml, .yaml, or paper:NAME); or judgments (TREC qrels, CSV, JSON …) "
            "and runs; or an index, with --queries and --qrels.",
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "--methods",
            help="A method; repeat it or separate by commas; all means every method. For an index also a first stage, "
            "e.g. rm3.",
            show_default=False,
        ),
    ] = None,
    metric: options.Metrics = None,
    tune_by: Annotated[
        str | None,
        typer.Option(
            help="The metric for tuning hyperparameters and for early stopping on validation data; by default ndcg@10.",
            show_default=False,
        ),
    ] = None,
    preset: options.Preset = None,
    seed: Annotated[
        list[str] | None,
        typer.Option(
            "--seed", "--seeds", help="A seed, by default 0; results are averaged over several.", show_default=False
        ),
    ] = None,
    search: Annotated[str | None, options.SEARCH] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A folder for models, tables and per-query values.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="The number of processes; by default the number of cores.", min=1),
    ] = None,
    places: Annotated[
        list[str] | None,
        typer.Option(
            "--data", help="For a spec: where a dataset is; repeat it.", metavar="NAME=PATH", show_default=False
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            help=f"For an index: the queries to search it for. For runs: {options.QUERIES} With --by: its columns.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option(help="For an index: relevance judgments (TREC qrels, CSV, JSON …).", show_default=False),
    ] = None,
    query: options.QueryColumn = None,
    document: options.DocumentColumn = None,
    grade: options.GradeColumn = None,
    features: Annotated[
        str | None, typer.Option("--set", help="For an index: features, or sets of them.", show_default=False)
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="For runs: test all others against this run only.", metavar="RUN", show_default=False),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="For runs: the paired test, randomisation (the default), t, wilcoxon, sign or bootstrap; or "
            "of all pairs together, tukey or randomised-tukey.",
            show_default=False,
        ),
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option(
            help="For runs: the correction for multiple tests, holm (the default), hochberg, bonferroni, sidak, "
            "benjamini-hochberg, benjamini-yekutieli or "
            "none.",
            show_default=False,
        ),
    ] = None,
    by: options.By = None,
    query_features: options.QueryFeatures = None,
    cluster: options.ClusterOption = None,
    as_json: options.Json = False,
) -> None:
    """Compare methods: train on train, tune hyperparameters on valid, report metrics on test; over all folds.

    Without -m, ndcg@10, @5, @3, @1 and map are reported. With -o, an interrupted comparison continues where it stopped
    if the same command is given again. With qrels first, the files after them are TREC runs to compare; with labelled
    data and no --method, they are scores. With an index, --queries and --qrels, learned rankings are compared with the
    first stage, with default and with tuned parameters. paper:freno-2011-table-1 and the like repeat tables of papers:
    say where the data is by --data OHSUMED=PATH.
    """
    from podium.comparison.spec import ENDINGS, PAPER

    flags = {"--method": method, "--metric": metric, "--tune-by": tune_by, "--preset": preset, "--seed": seed,
             "--search": search}  # fmt: skip
    if cluster is not None and jobs is not None:
        raise ParameterError("--jobs: the workers of a cluster are its jobs. Leave it out.")
    of_runs = {"--baseline": baseline, "--test": test, "--correction": correction}
    of_data = {"--query-features": query_features}
    columns = {"query": query, "document": document, "grade": grade}
    is_spec = data[0].endswith(ENDINGS) or data[0].startswith(PAPER)
    if qrels is None and not is_spec and (are_runs(data, columns, method) or (method is None and _are_scores(data))):
        taken = {**flags, **of_data, "--set": features, "--jobs": jobs, "--cluster": cluster}
        refuse(taken, ("--metric", "--preset", "--seed"), "runs are compared as they are; it is for methods")
        compare_runs(data[0], data[1:], console.split_option(metric, ["ndcg@10", "map"]), preset=preset,
                     seed=read_seeds(seed)[0], baseline=baseline, test=test, correction=correction, by=by,
                     columns=columns, queries=queries, output=output, as_json=as_json)  # fmt: skip
        return
    refuse(of_runs, (), "it is for runs, podium compare QRELS RUN RUN")
    if not is_spec:
        refuse({"--data": places}, (), "it is for a spec, podium compare SPEC; give the path itself")
    if queries is not None or qrels is not None or features is not None:
        refuse({"--by": by, **of_data}, (), "it is for labelled data and for runs")
        refuse({"--cluster": cluster}, (), "an index is searched on this machine. Leave it out")
        compare_index(data, queries, qrels, flags, features=features, output=output, as_json=as_json, columns=columns)
    elif len(data) == 1 and is_spec:
        flags |= {"--by": by, **of_data}
        run(spec_from_file(data[0], flags, places=places, output=output, jobs=jobs), cluster=cluster, as_json=as_json)
    else:
        run(spec_from_flags(data, method, metric, tune_by=tune_by, preset=preset, seed=seed, search=search,
                            output=output, jobs=jobs, by=by, query_features=query_features), cluster=cluster,
            as_json=as_json)  # fmt: skip


def _are_scores(data: list[str]) -> bool:
    """Whether the files are labelled data and scores."""
    from podium.formats.sniff import sniff

    return len(data) > 1 and all(Path(file).is_file() and sniff(file) == "scores" for file in data[1:])


def are_runs(data: list[str], columns: Columns, method: list[str] | None) -> bool:
    """Whether the files are judgments and runs; tables are labelled data if there is a method to train."""
    from podium.formats.sniff import sniff

    if not Path(data[0]).is_file() and not Path(data[0], "qrels").is_dir():
        return False
    is_qrels = sniff(data[0]) in ("qrels", "json")
    if is_qrels or method is not None or len(data) == 1:
        return is_qrels
    return Path(data[1]).is_file() and holds_qrels(data[0], data[1], columns)


def compare_index(
    data: list[str],
    queries: str | None,
    qrels: str | None,
    flags: dict[str, Any],
    *,
    features: str | None,
    output: str | None,
    as_json: bool,
    columns: Columns,
) -> None:
    """Compare rankings of the documents of an index."""
    from podium.cli.compare_search import compare_search
    from podium.evaluation.search.compare_search import METRICS
    from podium.text.collection.queries_of_judgments import holds_judgments

    names = [name for name in (queries, qrels) if name is not None]
    if len(data) != 1 or not names or (len(names) == 1 and not holds_judgments(names[0], columns)):
        raise ParameterError(
            "to compare search, give one index with --queries FILE and --qrels FILE; or --qrels alone, a table that "
            "names queries by text."
        )
    compare_search(
        data[0], *names, methods=console.split_option(flags["--method"], []),
        metrics=console.split_option(flags["--metric"], METRICS), preset=flags["--preset"],
        tune_by=flags["--tune-by"] or "ndcg@10", seeds=read_seeds(flags["--seed"]), features=features or "podium",
        output=output, as_json=as_json, columns=columns,
    )  # fmt: skip


def spec_from_flags(
    data: list[str],
    method: list[str] | None,
    metric: list[str] | None,
    *,
    tune_by: str | None,
    preset: str | None,
    seed: list[str] | None,
    search: str | None,
    output: str | None,
    jobs: int | None,
    by: str | None,
    query_features: list[str] | None,
) -> Spec:
    """Comparison described by the options."""
    from podium.comparison import make_spec
    from podium.comparison.spec import METRICS, TUNE_BY

    if method is None:
        raise ParameterError("Missing option '--method'. See: podium compare --help")
    return make_spec(
        data,
        console.split_option(method, []),
        metrics=tuple(console.split_option(metric, METRICS)),
        tune_by=tune_by or TUNE_BY,
        preset=preset,
        seeds=read_seeds(seed),
        search=search or "grid",
        by=by,
        query_features=tuple(console.split_option(query_features, [])),
        output=output,
        jobs=jobs,
    )


def spec_from_file(
    path: str, flags: Mapping[str, object], *, places: list[str] | None, output: str | None, jobs: int | None
) -> Spec:
    """Read a comparison from a file; options may change only its output, the places of its data and the jobs."""
    from podium.comparison import read_spec
    from podium.comparison.spec import place_datasets

    refuse(flags, (), f"write it into {path}. Only --data, -o, --jobs and --json go with a spec")
    whole = read_spec(path)
    spec = place_datasets(whole, dict(map(_place, places or [])))
    left = [name for name in whole.datasets if name not in spec.datasets]
    if left:
        console.say(f"left out, since --data does not say where they are: {', '.join(left)}")
    return replace(spec, output=output or spec.output, jobs=jobs or spec.jobs)


def _place(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ParameterError(
            f"Invalid value for '--data': expected NAME=PATH, e.g. OHSUMED=letor/OHSUMED; got {text!r}."
        )
    return name, path


def refuse(flags: Mapping[str, object], allowed: tuple[str, ...], why: str) -> None:
    """Raise a clear error if an option is given that is not allowed here."""
    for flag, value in flags.items():
        if value is not None and flag not in allowed:
            raise ParameterError(f"{flag}: {why}.")


def read_seeds(values: list[str] | None) -> tuple[int, ...]:
    """Distinct seeds."""
    words = console.split_option(values, ["0"])
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise ParameterError(f"Invalid value for '--seed': expected a whole number of at least 0; got {word!r}.")
    return tuple(dict.fromkeys(map(int, words)))


def run(spec: Spec, *, cluster: str | None, as_json: bool) -> None:
    """Run a comparison with a progress bar, and print the results of each dataset when it is finished."""
    from podium.cli.watching import Watching
    from podium.comparison import run_spec

    if spec.output is not None:
        console.check_output(spec.output)
    several = len(spec.datasets) > 1
    shown = (lambda *_: None) if as_json and several else partial(show, spec, as_json=as_json)
    with clusters.opened(cluster) as workers, Watching(spec, shown) as watching, console.printed_warnings():
        try:
            if workers is None:
                comparisons = run_spec(spec, observer=watching)
            else:
                comparisons = run_spec(replace(spec, jobs=workers.n_workers), observer=watching, pool=workers.pool())
        except ComparisonError as error:
            show_all(spec, error.comparison, as_json=as_json)
            raise
    show_all(spec, comparisons, as_json=as_json)


def show(spec: Spec, name: str, comparison: Comparison, *, as_json: bool) -> None:
    """Print the comparison on a dataset, and say where the files are."""
    if as_json:
        console.print_json(comparison.to_dict())
        return
    print_comparison(comparison)
    if spec.output is not None:
        files = "report.html, results.json, provenance.json, table.md, table.tex, per_query.tsv, models/"
        console.say(f"wrote {spec.folder(name)}: {files}")


def show_all(spec: Spec, comparisons: dict[str, Comparison], *, as_json: bool) -> None:
    """Print the overview of several datasets; nothing if there is only one."""
    from podium.pages.overview import overview

    if len(spec.datasets) < 2 or not comparisons:
        return
    if as_json:
        console.print_json({name: comparison.to_dict() for name, comparison in comparisons.items()})
        return
    first = str(next(iter(comparisons.values())).metrics[0])
    console.out(f"\n{first} on all datasets")
    console.print_table(*overview(comparisons, first))
    if spec.output is not None:
        console.say(f"wrote {spec.output}: report.html, results.json, table.md, and a folder for each dataset")


def print_comparison(comparison: Comparison) -> None:
    """Print a row per method, best first; the best of each metric is bold, or italic if others tie with it."""
    from podium.evaluation.report_texts import beside_published, emphasis, leaders, summary
    from podium.evaluation.segment_texts import segment_table

    heads, rows = summary(comparison)
    console.print_table(heads, rows, styles=emphasis(comparison))
    console.say("means: " + ", ".join(metric.tag() for metric in comparison.metrics))
    if comparison.tune_by is not None and any(_is_tuned(outcome.info) for outcome in comparison.outcomes):
        console.say(f"tuned by {comparison.tune_by} on validation data")
    best = leaders(comparison)
    if best is not None:
        console.say(best)
    skipped = {
        f"{metric}: {average.skipped} of {average.queries + average.skipped}"
        for name in comparison.by_method
        for metric, average in zip(comparison.metrics, comparison.pooled(name), strict=True)
        if average.skipped
    }
    if skipped:
        console.say(f"queries skipped, with nothing relevant: {'; '.join(sorted(skipped))}")
    for metric, part in comparison.segments.items():
        console.out(f"\n{metric} by segment")
        console.print_table(*segment_table(part, comparison.word))
        console.say(f"by segment: {part.verdict()}")
        console.say(
            f"differences from {part.baseline}; p-values are corrected for all segments together ({part.correction})"
        )
    beside = beside_published(comparison)
    if beside is not None:
        table, published = beside
        console.print_table(*table)
        console.say(f"published figures of {published.name}: {'; '.join(published.sources)}{published.caveat}")


def _is_tuned(info: Mapping[str, Any]) -> bool:
    """Whether validation data chose hyperparameters of a model, or when its iterations stopped."""
    return info.get("valid") is not None and ("trials" in info or "stopped" in info)
