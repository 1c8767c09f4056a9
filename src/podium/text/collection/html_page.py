"""HTML to text: the title and the text of an HTML page, in one pass, however broken it is.

    >>> html_text("<title>Slabs</title><p>Heat &amp; <b>flow</b><script>ignored()</script><p>more")
    {'title': 'Slabs', 'text': 'Heat & flow\\n\\nmore'}

The standard library's parser takes minutes for small pages with tags that are never closed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple


def html_text(page: str) -> dict[str, str]:
    """The title and the text of an HTML page, without scripts, styles and comments."""
    title, body, inside = list[str](), list[str](), list[str]()  # inside: open tags with text apart from the body
    for piece in _pieces(page):
        if not piece.tag:
            if not inside:
                body.append(piece.text)
            elif inside[0] == "title":
                title.append(piece.text)
            continue
        if piece.opens and piece.tag in _APART and piece.tag not in inside:
            inside.append(piece.tag)
        elif piece.tag not in _INLINE:
            body.append("\n")
        if piece.closes and piece.tag in inside:
            del inside[inside.index(piece.tag) :]
    text = "\n".join(" ".join(line.split()) for line in "".join(body).splitlines())
    return {"title": " ".join("".join(title).split()), "text": re.sub(r"\n{3,}", "\n\n", text).strip()}


def html_heading(page: str) -> str:
    """The heading of an HTML page: its first h1, else the first of its largest headings, else its first line."""
    headings, level = dict[str, str](), ""
    for piece in _pieces(page):
        if level and not piece.tag:
            headings[level] += piece.text
        elif piece.opens and piece.tag in _HEADINGS and piece.tag not in headings:
            level = piece.tag
            headings[level] = ""
        elif piece.tag in _HEADINGS:
            level = ""
    words = (" ".join(headings.get(tag, "").split()) for tag in _HEADINGS)
    return next((text for text in words if text), html_text(page)["text"].partition("\n")[0])


def html_links(page: str) -> list[tuple[str, str]]:
    """The links of an HTML page, (address, text) each, in their order."""
    links, address, text = list[tuple[str, str]](), "", list[str]()
    for piece in _pieces(page):
        if not piece.tag:
            text.append(piece.text)
        elif piece.tag == "a":
            if address:
                links.append((address, " ".join("".join(text).split())))
            target = _HREF.search(piece.attributes) if piece.opens else None
            address = "" if target is None else _characters(next(filter(None, target.groups()), "")).strip()
            text = []
    return [*links, (address, " ".join("".join(text).split()))] if address else links


_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HREF = re.compile(r"""(?i)(?<![\w-])href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


class _Piece(NamedTuple):
    """Text, or a tag that opens or closes, or both."""

    text: str = ""
    tag: str = ""
    opens: bool = False
    closes: bool = False
    attributes: str = ""


_INLINE = {"a", "b", "i", "em", "strong", "span", "code", "sub", "sup", "small", "u", "s", "mark", "abbr", "kbd", "tt"}
_APART = ("script", "style", "title", "noscript", "template")
_ENDS = {"script": re.compile(r"(?i)</script"), "style": re.compile(r"(?i)</style")}  # until then, < is a character
# Unclosed markup extends to the end of the page, so that no character is scanned twice.
_MARKUP = re.compile(
    r"<!--(?:>|.*?(?:--!?>|\Z))"
    r"|<[!?][^>]*+(?:>|\Z)"
    r"|<(?P<slash>/?)(?P<tag>[A-Za-z][^\s/>]*+)"
    r"(?P<rest>(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?)*)(?:>|\Z)",
    re.DOTALL,
)


def _pieces(page: str) -> Iterator[_Piece]:
    at = 0
    while markup := _MARKUP.search(page, at):
        yield _Piece(_characters(page[at : markup.start()]))
        at = markup.end()
        if markup["tag"] is None:
            continue
        tag, closes, alone = markup["tag"].lower(), bool(markup["slash"]), markup["rest"].endswith("/")
        yield _Piece(tag=tag, opens=not closes, closes=closes or alone, attributes=markup["rest"])
        if tag in _ENDS and not (closes or alone):
            end = _ENDS[tag].search(page, at)
            at = len(page) if end is None else end.start()
    yield _Piece(_characters(page[at:]))


def _characters(text: str) -> str:
    """Text with character references (&amp;) resolved; an invalid number becomes U+FFFD."""
    return html.unescape(re.sub(r"&#\d{9,}+;?", "\ufffd", text))
