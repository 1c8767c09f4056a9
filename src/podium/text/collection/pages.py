"""Pages of a folder that link to each other: the addresses of links as ids, and the texts of links to each page.

>>> address("sub/a.html", "../b%20c.html?x=1#top")
'b c.html'
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Set
from urllib.parse import unquote

from podium.text.collection.html_page import html_links


def address(page: str, link: str) -> str:
    """The path, within the folder, of a link on a page; the link itself if it leads elsewhere."""
    if re.match(r"(?i)[a-z][a-z0-9+.-]*:|//", link):
        return link
    path = unquote(re.split(r"[?#]", link, maxsplit=1)[0])
    if not path:
        return page
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(page), path)).lstrip("/")


def page_links(page: str, html: str, ids: Set[str]) -> list[tuple[str, str]]:
    """The links of a page to other pages and to the web, (id or URL, text) each; a link to a folder is to its index."""
    links = list[tuple[str, str]]()
    for link, text in html_links(html):
        target = address(page, link)
        choices = (target, posixpath.join(target, "index.html"), posixpath.join(target, "index.htm"))
        target = next((choice for choice in choices if choice in ids), target)
        if target in ids or re.match(r"(?i)https?:", target):
            links.append((target, text))
    return links


def anchor_texts(pages: Iterable[tuple[str, str]], ids: Set[str]) -> Mapping[str, str]:
    """The texts of the links to each page from other pages, one per line; `pages` are (id, HTML)."""
    texts = dict[str, list[str]]()
    for page, html in pages:
        for target, text in page_links(page, html, ids):
            if target in ids and target != page and text:
                texts.setdefault(target, []).append(text)
    return {page: "\n".join(lines) for page, lines in texts.items()}
