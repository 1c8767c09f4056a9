"""Importer of TianGong-ST (Chen et al., CIKM 2019): sessions of Sogou's web search, as XML or tab-separated.

    session num > interaction > query_id, results > result rank > docid, clicked > click > rank         XML
    visit  query  [documents]  [vertical types]  [clicks 0 or 1]  [grades]                              tabs

The names of the elements and the order of the columns were checked against the scripts of CHIANGEL/Neural-Click-Model,
which published a sample in the form with tabs: `scripts_for_dataset/TianGong-ST.py` reads the XML, and `dataset.py`
reads session, query, documents, vertical types, clicks and, in the judged file, grades. Some pages of this log repeat
documents: read it with `repeated="keep"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO
from xml.etree import ElementTree

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.clicks.log.click_pages import PageList


def read_tiangong(source: Source, *, repeated: Repeated = "refuse") -> ClickLog:
    """Read TianGong-ST, in either form, which is recognised by the first character.

    `source`: a path, or an open file.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    pages = PageList(source_name(source), repeated=repeated)
    with reading(source) as file:
        lines = _lines(file, pages)
        first = next(lines, None)
        if first is not None and first[1].lstrip("\ufeff \t").startswith("<"):
            _add_xml(pages, chain([first], lines))
        elif first is not None:
            for number, line in chain([first], lines):
                _add_line(pages, number, line)
    return pages.log()


def _lines(file: BinaryIO, pages: PageList) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(file, 1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text: {error.reason}.", where=pages.place(number)) from None
        if line.strip():
            yield number, line


def _add_line(pages: PageList, number: int, line: str) -> None:
    words, where = line.rstrip("\r\n").split("\t"), pages.place(number)
    if len(words) not in (5, 6):
        raise DataError(
            "expected visit, query, [documents], [vertical types], [clicks] and perhaps [grades], separated by tabs; "
            f"got {len(words)} columns.",
            where=where,
        )
    documents, clicks = _list(words[2]), _list(words[4])
    if len(clicks) != len(documents) or not {"0", "1"}.issuperset(clicks):
        raise DataError(f"clicks must be {len(documents)} numbers 0 or 1, one for each document.", where=where)
    pages.add(words[1], documents, [k for k, click in enumerate(clicks, 1) if click == "1"], line=number)
    pages.set_name("visits", words[0])
    if len(words) == 6:
        try:
            grades = [float(grade) for grade in _list(words[5])]
        except ValueError:
            grades = []
        if len(grades) != len(documents):
            raise DataError(f"grades must be {len(documents)} numbers, one for each document.", where=where)
        pages.set_all("grades", grades)


def _list(text: str) -> list[str]:
    """Split a list such as [1, 2, 'x']."""
    inside = text.strip().removeprefix("[").removesuffix("]").strip()
    return [item.strip().strip("'\"") for item in inside.split(",")] if inside else []


def _add_xml(pages: PageList, lines: Iterator[tuple[int, str]]) -> None:
    """Parse line by line, so that the line of each interaction is known."""
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    visit, number = "", 1
    for number, line in lines:
        try:
            parser.feed(line)
            for event, element in parser.read_events():
                if event == "start" and element.tag == "session":
                    visit = element.get("num", "")
                elif event == "end" and element.tag == "interaction":
                    _add_interaction(pages, element, visit, number)
                elif event == "end" and element.tag == "session":
                    element.clear()
        except ElementTree.ParseError as error:
            raise DataError(f"not well-formed XML: {error}.", where=pages.place(number)) from None
    try:
        parser.close()
    except ElementTree.ParseError as error:
        raise DataError(f"the XML ends too early, as if cut short: {error}.", where=pages.place(number)) from None


def _add_interaction(pages: PageList, element: ElementTree.Element, visit: str, number: int) -> None:
    where = pages.place(number)
    query = (element.findtext("query_id") or "").strip()
    results = [(result.findtext("docid") or "").strip() for result in element.iterfind("results/result")]
    if not query or not all(results):
        raise DataError("this interaction lacks its query_id or the docid of a result.", where=where)
    try:
        ranks = [int(result.get("rank") or 0) for result in element.iterfind("results/result")]
        clicked = [int(click.findtext("rank") or 0) for click in element.iterfind("clicked/click")]
    except ValueError:
        raise DataError("ranks of results and clicks must be whole numbers.", where=where) from None
    places = {rank: at for at, rank in reversed(list(enumerate(ranks, 1)))}
    pages.add(query, results, [places.get(rank, len(results) + 1) for rank in clicked], line=number)
    if visit:
        pages.set_name("visits", visit)
    text = (element.findtext("query") or "").strip()
    if text:
        pages.set_text(text)
