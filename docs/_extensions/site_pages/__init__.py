"""Sphinx extension of the documentation site: writes the reference from the code, and llms.txt beside the pages.

`docs/reference` and `docs/files` are written before Sphinx reads, and are not kept in the repository. Every function of
`PAGES` gives pages as Markdown, by their paths below `docs/reference`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from . import api, commands, errors, llms, outside, parts, service

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGES: tuple[Callable[[], dict[str, str]], ...] = (
    parts.pages,
    commands.pages,
    api.pages,
    errors.pages,
    service.pages,
)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx's events."""
    app.connect("config-inited", _write)
    app.connect("source-read", _link)
    app.connect("build-finished", llms.write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def reference() -> dict[str, str]:
    """Every page of the reference as Markdown, by its path below `docs/reference`."""
    return {path: text for pages in PAGES for path, text in pages().items()}


def _write(app: Sphinx, config: object) -> None:
    docs = Path(app.srcdir)
    _replace(docs / "reference", reference())
    _replace(docs / "files", outside.pages(docs))


def _link(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname.startswith(("reference/", "files/")):
        return
    docs = Path(app.srcdir)
    titled = source[0] if source[0].lstrip().startswith(("#", "<!--")) else f"# {source[0]}"  # tables of comparisons
    source[0] = outside.linked(titled, (docs / docname).parent, docs)


def _replace(folder: Path, pages: dict[str, str]) -> None:
    """Make a folder hold these pages and no others; a page that stays the same is not touched, and not read again."""
    for old in folder.rglob("*.md"):
        if str(old.relative_to(folder)) not in pages:
            old.unlink()
    for path, text in pages.items():
        file = folder / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
