"""TREC text: read documents (<DOC> … </DOC>) and topics (<top> … </top>), each in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from podium.base.errors import DataError

Decoded = Callable[[bytes], str]


def read_trec_documents(lines: Iterable[bytes], name: str, decoded: Decoded) -> Iterator[dict[str, Any]]:
    """Read <DOC> with <DOCNO>, <TITLE> or <HEADLINE>, and text; tags within the text are dropped."""
    parts: list[str] | None = None  # of the document that is open
    for number, line in enumerate(lines, 1):
        text, at = decoded(line), 0
        for tag in _DOCUMENT.finditer(text):
            if tag[1] and parts is not None:
                yield _document("".join([*parts, text[at : tag.start()]]), f"{name}:{number}")
                parts = None
            elif not tag[1] and parts is None:
                parts, at = [], tag.end()
            elif not tag[1] and not text[: tag.start()].strip():
                raise DataError("a <DOC> begins before the one above it is closed.", where=f"{name}:{number}")
        if parts is not None:
            parts.append(text[at:])
    if parts is not None:
        raise DataError("the last <DOC> is not closed.", where=name)


def read_trec_topics(text: str, name: str) -> Iterator[dict[str, Any]]:
    """Read topics such as <top> <num> Number: 301 <title> … </top>."""
    *blocks, rest = _TOPIC_END.split(text)
    for number, block in enumerate(blocks, 1):
        inside = _TOPIC.split(block, maxsplit=1)[-1]
        fields = {tag.lower(): words for tag, words in _TOPIC_FIELD.findall(inside)}
        id = re.sub(r"(?i)number:", "", fields.get("num", "")).strip()
        title = re.sub(r"(?i)^\s*topic:", "", fields.get("title", ""))
        if not id:
            raise DataError(f"<top> {number} has no <num>.", where=name)
        yield {"id": id, "text": " ".join(title.split())}
    if _TOPIC.search(rest):
        raise DataError("the last <top> is not closed.", where=name)


_DOCUMENT = re.compile(r"(?i)<(/?)doc>")
_TOPIC, _TOPIC_END = re.compile(r"(?i)<top>"), re.compile(r"(?i)</top>")
_TOPIC_FIELD = re.compile(r"(?i)<(num|title|desc|narr)>([^<]*)")
_FIELDS = {
    "id": re.compile(r"(?i)<(/?)(docno|docid)>"),
    "title": re.compile(r"(?i)<(/?)(title|headline|head|hl)>"),
    "url": re.compile(r"(?i)<(/?)(url)>"),
}


def _document(text: str, where: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field, tags in _FIELDS.items():
        place = _element(tags, text)
        if place is not None:
            start, begin, end, after = place
            fields[field] = " ".join(_without_tags(text[begin:end]).split())
            text = text[:start] + text[after:]
    if "id" not in fields:
        raise DataError("this <DOC> has no <DOCNO>.", where=where)
    return fields | {"text": _without_tags(text).strip()}


def _element(tags: re.Pattern[str], text: str) -> tuple[int, int, int, int] | None:
    """The first closed element: its start, the start and end of its content, and its end."""
    opened = dict[str, tuple[int, int]]()  # by tag, the first
    closed = dict[str, tuple[int, int, int, int]]()
    for match in tags.finditer(text):
        tag = match[2].lower()
        if not match[1]:
            opened.setdefault(tag, match.span())
        elif tag in opened:
            closed.setdefault(tag, (*opened[tag], *match.span()))
    return min(closed.values(), default=None)


def _without_tags(text: str) -> str:
    return re.sub(r"<[^<>]*+>", " ", text)
