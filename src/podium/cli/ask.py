"""`podium ask`: rankings and features from a live search engine."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, Literal

import typer

from podium.base.errors import DataError, ParameterError, counted
from podium.cli import console, progress

KEY = "PODIUM_ENGINE_AUTH"
"""The environment variable that holds `user:password`, or the header Authorization."""
Url = Annotated[
    str,
    typer.Option(
        help="The index, core or server, e.g. http://localhost:9200/shop; nothing is sent elsewhere. A password or key "
        "is read from the environment: PODIUM_ENGINE_AUTH='user:password' or 'ApiKey …'.",
    ),
]
Timeout = Annotated[float, typer.Option(help="Seconds for an answer.", min=0.1)]
Retries = Annotated[int, typer.Option(help="How often to ask again if the engine is busy or lost.", min=0)]


def ask(
    engine: Annotated[
        Literal["elasticsearch", "opensearch", "solr", "vespa"], typer.Argument(help="The kind of engine.")
    ],
    queries: Annotated[str, typer.Argument(help="Queries: JSON lines with id and text, TSV, TREC topics …")],
    url: Url,
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="Append answers to this JSON lines file; queries in it are done."),
    ] = "answers.jsonl",
    template: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='The search as JSON: {{query}} in its texts becomes the query, "{{vector}}" its vector.',
            show_default="the query's words in all fields",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Documents for each query.", min=1)] = 100,
    log_features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Also log features: of a feature set (Elasticsearch, OpenSearch), a feature store (Solr), or a rank "
            "profile with match-features (Vespa). The query is its parameter keywords.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the rankings as a run.", show_default=False)
    ] = None,
    at_once: Annotated[int, typer.Option("--at-once", help="Searches at the same time.", min=1, max=64)] = 4,
    timeout: Timeout = 30.0,
    retries: Retries = 3,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the first search, and send nothing.")] = False,
) -> None:
    """Ask a live search engine for the documents of each query, and for their features.

    Answers are kept as they came: podium features answers.jsonl QRELS makes training data of them. A run that was
    stopped goes on where it was.
    """
    from podium.base.http_requests import Server, authorization, check_base_url
    from podium.engines.asked import ask as ask_engine
    from podium.engines.search_bodies import PATHS, search_body, template_of
    from podium.text.collection.collection import read_queries

    url = check_base_url(url)
    console.check_file(output, what="the answers")
    search = template_of(engine) if template is None else _template(template)
    bodies = {
        topic.id: search_body(engine, search, topic.text, k=k, log_features=log_features, vector=topic.vector)
        for topic in read_queries(queries)
    }
    if dry_run:
        console.out(f"POST {url.rstrip('/')}{PATHS[engine]}")
        console.out(json.dumps(next(iter(bodies.values())), indent=1, ensure_ascii=False))
        return
    server = Server(url, authorization(os.environ.get(KEY)), timeout, retries)
    with progress.progress_bar(1) as bar:
        asked = ask_engine(server, engine, bodies, output, at_once=at_once, progress=bar.progress(queries))
    console.say(f"{output}: {asked.now} answered now, {asked.before} before, {len(asked.failed)} without an answer")
    if run is not None and asked.now + asked.before:
        _write_run(output, run, set(bodies) - set(asked.failed))
    if asked.failed:
        query, why = next(iter(asked.failed.items()))
        raise DataError(
            f"{counted(len(asked.failed), 'query', 'queries')} without an answer, the first {query!r}: {why} Run it "
            "again to ask for those."
        )


def _template(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path} is no JSON: {error}.") from None
    if not isinstance(value, dict) or "{{" not in json.dumps(value):
        raise ParameterError(f"{path} must be a JSON object with {{{{query}}}}, which the query goes in place of.")
    return value


def _write_run(answers: str, run: str, queries: set[str]) -> None:
    from dataclasses import replace

    from podium.formats.engines.logged_features import read_shown
    from podium.formats.trec.trec import write_run

    log = read_shown(answers)
    shown = {query: documents for query, documents in log.documents.items() if query in queries}
    write_run(replace(log, documents=shown).run(), run)
    console.say(f"{run}: the rankings of {counted(len(shown), 'query', 'queries')}")
