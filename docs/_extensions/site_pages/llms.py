"""llms.txt, the list of pages with a sentence about each, and llms-full.txt, all pages in one file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_UNSAID = re.compile(r"<!--.*?-->|^(`{3,}|:{3,}).*?^\1$|^ {4}.*?$", re.DOTALL | re.MULTILINE)
"""Comments, and blocks of code."""


def write(app: Sphinx, failed: Exception | None) -> None:
    """Write both files next to the pages."""
    if failed is not None or app.builder.name != "html":
        return
    pages = {name: Path(app.env.doc2path(name)).read_text(encoding="utf-8") for name in sorted(app.env.found_docs)}
    order = sorted(pages, key=lambda name: (name.startswith("files/"), name.startswith("reference/"), name))
    title = {name: app.env.titles[name].astext() for name in order}
    lines = [f"- [{title[name]}]({name}.html): {summary(pages[name])}" for name in order]
    outdir = Path(app.outdir)
    head = f"# {app.config.project}\n\n> {app.config.html_short_title}\n\n## Pages\n\n"
    (outdir / "llms.txt").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    whole = "\n\n".join(f"<!-- {name}.html -->\n\n{pages[name].strip()}" for name in order)
    (outdir / "llms-full.txt").write_text(whole + "\n", encoding="utf-8")


def summary(text: str) -> str:
    """First sentence of the first paragraph of a page."""
    for paragraph in re.split(r"\n\s*\n", _UNSAID.sub("", text)):
        if re.match(r"[\w*`\[]", paragraph.strip()):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.!?]) (?=[A-Z`])", plain.replace("\\", ""))[0]
    return ""
