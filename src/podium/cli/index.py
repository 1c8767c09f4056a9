"""`podium index`: make or change an index of documents for search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from podium.base.errors import ParameterError, counted
from podium.cli import console, progress


def index(
    documents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Documents: JSON lines, a dump of Elasticsearch or OpenSearch, a folder of text, Markdown or HTML "
            "files, CSV, TSV, Parquet, SMART or TREC text; - for standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="The index to make or change.")] = "my.index",
    add: Annotated[bool, typer.Option("--add", help="Add documents to an existing index.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace documents whose id is in the index already.")
    ] = False,
    delete: Annotated[
        list[str] | None, typer.Option(help="Delete a document by its id; repeat it for more.", show_default=False)
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(help="A file of links between documents, in lines: source target.", show_default=False),
    ] = None,
    visits: Annotated[
        str | None,
        typer.Option(
            help="A file of visits, in lines: page, seconds and, if known, the next page.", show_default=False
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="An .npy file with a vector per document; their ids, one per line, are in the file of the same name "
            "that ends in .ids.",
            show_default=False,
        ),
    ] = None,
    clicks: Annotated[
        str | None,
        typer.Option(
            metavar="LOG",
            help="A click log: adds to each document the numbers of clicks and impressions, and the searched field "
            "queries, the words of queries that led to clicks.",
            show_default=False,
        ),
    ] = None,
    clicks_of: Annotated[
        str | None,
        typer.Option(
            metavar="QUERIES",
            help="With --clicks: a file of the queries that count. Give the training queries, so that test queries do "
            "not leak into the index.",
            show_default=False,
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            help="The fields to search, separated by commas; others are stored. Default: title and text, or without a "
            "text all fields that hold text.",
            show_default=False,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", help="The field of ids. Default: one with a usual name, such as id or sku.", show_default=False
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(help="The field that is shown as the title of a document.", show_default="title"),
    ] = None,
    language: Annotated[
        str, typer.Option(help="The language of stemming and stop words; none for neither.")
    ] = "english",
    analyser: Annotated[
        str | None,
        typer.Option(help="The whole analyser, e.g. 'analyser(language=german,accents=strip)'.", show_default=False),
    ] = None,
) -> None:
    """Index documents for full-text search.

    A document has an id and text fields. Its other fields are stored: numbers and short texts for filters and features,
    "links" (ids) for link features, "vector" for vector search. All documents of a call are added, or none.
    """
    from podium.base.files import claimed
    from podium.text.analyser import Analyser
    from podium.text.index.index import Index

    beside = {"links": links, "visits": visits, "vectors": vectors}
    if not documents and not delete and not any(beside.values()):
        raise ParameterError("nothing to index. Give a file or folder of documents. See: podium index --help")
    chosen = Analyser.parse(analyser) if analyser is not None else Analyser(language=language)
    names = None if fields is None else [name.strip() for name in fields.split(",") if name.strip()]
    changes = add or replace or delete or not documents
    if changes and (fields is not None or analyser is not None or title is not None):
        raise ParameterError("fields, title and analyser are set when an index is made; they cannot be changed later.")
    with progress.progress_bar(len(documents or ()) or 1) as bar, console.printed_warnings():
        rows = _read(documents or (), bar)
        if clicks is not None or clicks_of is not None:
            rows, names = _clicked(
                rows, clicks, of=clicks_of, fields=names, id=id, title=title, existing=output if changes else None
            )
        if not changes:
            with _made(output, rows, fields=names, analyser=chosen, id=id, title=title) as opened:
                _add_beside(opened, **beside)
            changed = len(opened)
        else:
            opened, changed = Index.open(output), 0
            with claimed(output), opened.together():
                if delete:
                    opened.delete(delete)
                if documents:
                    changed = opened.add(rows, replace=replace, id=id)
                _add_beside(opened, **beside)
    _print(opened, changed, deleted=len(delete or ()))
    opened.close()


def _clicked(
    rows: Iterator[dict[str, Any]], clicks: str | None, *, of: str | None, fields: list[str] | None, id: str | None,
    title: str | None, existing: str | None,
) -> tuple[Iterator[dict[str, Any]], list[str] | None]:  # fmt: skip
    """Documents with the clicks of a log, and the fields to search."""
    from podium.cli.click_logs import read_log
    from podium.formats.query_texts import QueryTexts
    from podium.text.collection.clicked_documents import QUERIES, document_clicks, fields_with_queries, with_clicks
    from podium.text.index.index import Index

    if clicks is None:
        raise ParameterError("--clicks-of names the queries of a log: give --clicks LOG too.")
    if of is None:
        console.say(
            "warning: the index gets the clicks of all queries of the log. If some are test queries, they leak: name "
            "the training queries with --clicks-of FILE."
        )
    clicked = document_clicks(read_log(clicks, repeated="keep"), None if of is None else QueryTexts.read(of))
    documents = with_clicks(rows, clicked, id=id)
    if existing is None:
        return fields_with_queries(documents, fields, id=id, title=title)
    opened = Index.open(existing)
    searched = opened.fields
    opened.close()
    if QUERIES not in searched:
        raise ParameterError(f"{existing} was made without --clicks, so it has no field {QUERIES}. Make it again.")
    return documents, fields


@contextmanager
def _made(output: str, rows: Iterator[dict[str, Any]], **how: Any) -> Iterator[Any]:
    """Create an index of documents; remove it if the block fails."""
    from podium.base.files import claimed
    from podium.text.index.index import Index, remove_index

    with claimed(output):
        created = Index.create(output, rows, **how)
        try:
            with created.together():
                yield created
        except BaseException:
            created.close()
            remove_index(output)
            raise


def _add_beside(index: Any, *, links: str | None, visits: str | None, vectors: str | None) -> None:
    """Add links, visits and vectors from their files."""
    if links is not None:
        from podium.graph import read_links

        index.add_links(pair[:2] for pair in read_links(links))
    if visits is not None:
        from podium.graph import read_visits

        index.add_visits(read_visits(visits))
    if vectors is not None:
        from podium.text.index.encoding import read_vectors

        index.set_vectors(*read_vectors(vectors, vectors.removesuffix(".npy") + ".ids"))


def _read(sources: Any, bar: progress.Bar) -> Iterator[dict[str, Any]]:
    from podium.text.collection.collection import read_documents

    for source in sources:
        yield from read_documents(source, progress=bar.progress(source))
        bar.put(source, 1.0, finished=True)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _print(index: Any, added: int, *, deleted: int) -> None:
    from podium.text.index.stored_kinds import stored_kinds

    path = index.store.path
    size = path.stat().st_size
    shown = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
    console.out(f"index      {path}: {counted(len(index), 'document')}, {shown}")
    if deleted:
        console.out(f"deleted    {counted(deleted, 'document')}")
    if added:
        console.out(f"added      {counted(added, 'document')}")
    if index.store.id_field != "id":
        console.out(f"ids        {index.store.id_field}")
    weighted = [
        name if weight == 1 else f"{name}^{weight:g}" for name, weight in zip(index.fields, index.weights, strict=True)
    ]
    console.out(f"searched   {_list(weighted)}")
    stored = stored_kinds(index)
    if stored:
        console.out(f"stored     {'; '.join(f'{_list(names)} ({kind})' for kind, names in stored.items())}")
    if "text" in stored:
        console.out(f"           to search all texts: --fields '{','.join((*index.fields, *stored['text']))}'")
    changed = "" if repr(index.analyser) == "analyser" else f", {index.analyser}"
    console.out(f"language   {index.analyser.language}{changed}")
    console.out(f"try        podium search {path} 'your words'")
