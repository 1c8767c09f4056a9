"""Importer of Yandex's relevance prediction challenge (2011): tab-separated lines of pages and clicks.

    visit  time  Q  query  region  url  url  …      a page
    visit  time  C  url                             a click

A click belongs to the latest page of its visit that shows the url; a click on a url that none shows is dropped and
counted. Times are in an undisclosed unit and are not read. The order of columns was checked against a public reader of
this data set, `YandexRelPredChallenge.py` of CHIANGEL/Neural-Click-Model, which assigns clicks to the latest page of
the visit only.
"""

from __future__ import annotations

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.clicks.log.click_pages import PageList


def read_yandex(source: Source, *, repeated: Repeated = "refuse") -> ClickLog:
    """Read a click log of Yandex's relevance prediction challenge.

    `source`: a path, or an open file.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    pages = PageList(source_name(source), repeated=repeated)
    shown: dict[str, list[dict[str, int]]] = {}  # of each visit, its pages: url → impression
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            words = _words(raw, pages.place(number))
            if not words:
                continue
            if len(words) >= 5 and words[2] == "Q":
                first = pages.add(words[3], words[5:], (), line=number)
                pages.set_name("visits", words[0])
                places = {url: first + k for k, url in reversed(list(enumerate(words[5:])))}
                shown.setdefault(words[0], []).append(places)
            elif len(words) == 4 and words[2] == "C":
                own = shown.get(words[0], [])
                row = next((page[words[3]] for page in reversed(own) if words[3] in page), None)
                if row is None:
                    pages.dropped_clicks += 1
                else:
                    pages.clicks[row] = 1
            else:
                raise DataError(
                    "expected visit, time, Q, query, region, urls… or visit, time, C, url, separated by tabs; got "
                    f"{len(words)} columns.",
                    where=pages.place(number),
                )
    return pages.log()


def _words(raw: bytes, where: str) -> list[str]:
    try:
        line = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}.", where=where) from None
    return line.split("\t") if line.strip() else []
