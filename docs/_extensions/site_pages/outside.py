"""Files outside of `docs` that its pages link to, such as CONTRIBUTING.md and examples: each becomes a page."""

from __future__ import annotations

import re
from pathlib import Path

from .markdown import block

PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
"""Files that are pages even if nothing links to them."""
TAKEN = ("search.md",)
"""Pages of `docs` that need another address: Sphinx writes a page of its own there, to search the site."""
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?(?=\))")
_LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".json": "json"}


def pages(docs: Path) -> dict[str, str]:
    """Pages of the linked files, and of the files they link to, by path below `docs/files`."""
    root = docs.parent
    waiting = [*(root / name for name in PAGES), *(docs / name for name in TAKEN)]
    waiting += [file for page in kept(docs) for file in _targets(page) if _is_outside(file, docs)]
    written: dict[str, str] = {}
    while waiting:
        file = waiting.pop()
        if _page(file, root) in written:
            continue
        written[_page(file, root)] = _text(file, docs)
        if file.suffix == ".md":
            waiting += [target for target in _targets(file) if _is_outside(target, docs)]
    return {"index.md": _index(), **written}


def kept(docs: Path) -> list[Path]:
    """Pages of `docs` that are kept in the repository, and read by Sphinx where they are."""
    written = [docs / "reference", docs / "files", docs / "_extensions", *(docs / name for name in TAKEN)]
    return sorted(page for page in docs.rglob("*.md") if not any(page.is_relative_to(folder) for folder in written))


def linked(text: str, folder: Path, docs: Path) -> str:
    """A page's text, with links to files outside of `docs` turned into links to their pages."""

    def link(match: re.Match[str]) -> str:
        target = (folder / match[1]).resolve()
        if not target.is_file():
            return match[0]
        if _is_outside(target, docs):
            return f"/files/{_page(target, docs.parent)}{match[2] or ''}"
        return f"/{target.relative_to(docs)}{match[2] or ''}"

    return _LINK.sub(link, text)


def _targets(page: Path) -> list[Path]:
    links = _LINK.finditer(page.read_text(encoding="utf-8"))
    return [file for file in ((page.parent / link[1]).resolve() for link in links) if file.is_file()]


def _is_outside(file: Path, docs: Path) -> bool:
    if file.is_relative_to(docs):
        return str(file.relative_to(docs)) in TAKEN
    return file.is_relative_to(docs.parent)


def _page(file: Path, root: Path) -> str:
    path = file.relative_to(root)
    return str(path if path.suffix == ".md" else path.with_name(path.name.replace(".", "-") + ".md"))


def _text(file: Path, docs: Path) -> str:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return linked(text, file.parent, docs)
    return f"# {file.relative_to(docs.parent)}\n\n{block(text.rstrip(), _LANGUAGES.get(file.suffix, 'text'))}\n"


def _index() -> str:
    return "# Files of the project\n\nExamples and other files that pages link to.\n\n```{toctree}\n:glob:\n\n**\n```\n"
