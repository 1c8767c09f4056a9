"""Pages of results without a script, in the style of the report: one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from importlib.resources import files

from podium.version import version

_HEAD = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta name="color-scheme" content="light dark">\n'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    'img-src data:">\n<link rel="icon" href="data:,">\n'
)


def static_page(title: str, summary: str, sections: Sequence[tuple[str, str]]) -> str:
    """A page with a title, a line below it, and sections of (heading, HTML)."""
    style = (files("podium.evaluation") / "page" / "report.css").read_text("utf-8")
    body = "\n".join(
        f'<section aria-labelledby="h{k}">\n<h2 id="h{k}">{escape(heading)}</h2>\n{content}\n</section>'
        for k, (heading, content) in enumerate(sections)
    )
    return (
        f"{_HEAD}<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{escape(title)}</h1>\n<p>{escape(summary)}</p>\n</header>\n<main>\n{body}\n</main>\n"
        f"<footer><p>podium {escape(version())}</p></footer>\n</body>\n</html>\n"
    )


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, label: str, chosen: Collection[int] = (), words: int = 1
) -> str:
    """A table; its first columns are words and the others numbers, and chosen rows are shaded."""
    head = "".join(f'<th scope="col"{"" if c < words else _NUMBER}>{escape(name)}</th>' for c, name in enumerate(heads))
    body = []
    for r, row in enumerate(rows):
        cells = [f'<th scope="row">{escape(row[0])}</th>']
        cells += [f"<td{'' if c < words else _NUMBER}>{escape(cell)}</td>" for c, cell in enumerate(row) if c > 0]
        body.append(f"<tr{_CHOSEN if r in chosen else ''}>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label, quote=True)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def paragraph(text: str, *, note: bool = False) -> str:
    """A paragraph of text; a note is smaller."""
    return f"<p{_NOTE if note else ''}>{escape(text)}</p>"


_NUMBER, _CHOSEN, _NOTE = ' class="number"', ' class="chosen"', ' class="note"'
