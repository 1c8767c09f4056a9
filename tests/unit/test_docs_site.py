"""The documentation site, without building it: every page can be reached, and everything with a name has a page."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from docs._extensions.site_pages import outside, reference
from docs._extensions.site_pages.api import members
from docs._extensions.site_pages.arguments import lent, unexplained
from docs._extensions.site_pages.docstrings import as_markdown, first_sentence
from docs._extensions.site_pages.llms import summary
from docs._extensions.site_pages.markdown import block, code, escaped, table
from docs._extensions.site_pages.parts import folder, things_of

import podium
from podium.base.registry import field_types
from podium.cli.main import PANELS
from podium.cli.methods import KINDS
from podium.cli.parameters import meanings
from podium.methods import METHODS, method
from podium.metrics.conventions import PRESETS

DOCS = Path(__file__).parents[2] / "docs"
TOCTREE = re.compile(r"```{toctree}\n(.*?)```", re.DOTALL)


@functools.cache
def pages() -> dict[str, str]:
    """Text of every page of the site, by its path below docs without the ending."""
    texts = {str(page.relative_to(DOCS)): page.read_text(encoding="utf-8") for page in outside.kept(DOCS)}
    texts |= {f"reference/{path}": text for path, text in reference().items()}
    texts |= {f"files/{path}": text for path, text in outside.pages(DOCS).items()}
    return {path.removesuffix(".md"): text for path, text in texts.items()}


def entries(page: str) -> set[str]:
    """Pages that a page's lists of pages name."""
    lines = [line.strip() for tree in TOCTREE.findall(pages()[page]) for line in tree.splitlines()]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith(":")]
    home = Path(page).parent
    patterns = [str(home / name).replace("**", "*") for name in names]
    return {other for other in pages() for pattern in patterns if other != page and fnmatch(other, pattern)}


def test_every_page_is_reached_from_the_start_page():
    reached, waiting = {"index"}, ["index"]
    while waiting:
        new = entries(waiting.pop()) - reached
        reached |= new
        waiting += new
    assert sorted(set(pages()) - reached) == []


@pytest.mark.parametrize("kind", KINDS)
def test_everything_of_a_kind_has_a_page(kind):
    names = {f"reference/{folder(kind)}/{name}" for name in things_of(kind)}
    assert names <= set(pages())
    assert entries(f"reference/{folder(kind)}/index") == names


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_of_a_kind_is_explained(kind):
    for name, cls in things_of(kind).items():
        unsaid = [field for field in field_types(cls) if not meanings(cls).get(field)]
        assert not unsaid, f"{name} does not say what {', '.join(unsaid)} means: write it below the field"


def test_every_method_command_and_public_name_has_a_page():
    names = [f"methods/{name}" for name in METHODS if method(name).family != "your own"]  # other tests register some
    names += [f"commands/podium-{name}" for own in PANELS.values() for name in own]
    names += [f"api/{name}" for name in podium.__all__ if name != "__version__"]
    assert [name for name in names if f"reference/{name}" not in pages()] == []


def test_a_method_page_has_formula_recipe_and_ranges():
    page = pages()["reference/methods/ranknet"]
    assert "**Formula:**\n\n```text\nL = Σ_{y_i > y_j} log(1 + e^(−σ(s_i − s_j)))" in page
    assert "recipe(loss=ranknet(normalise=true))" in page
    assert "| `penalty` | 0.01, 0.1, 1.0 | 0.0001 to 10, logarithmic |" in page
    assert "| `sigma` | `1.0` | Steepness of the logistic loss. | number | \\> 0 |" in page


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("../CONTRIBUTING.md#tests", "/files/CONTRIBUTING.md#tests"),
        ("../examples/plugins/huber.py", "/files/examples/plugins/huber-py.md"),
        ("search.md#x", "/files/docs/search.md#x"),
        ("engines/../data.md", "/data.md"),
        ("https://example.org/data.md", "https://example.org/data.md"),
    ],
)
def test_links_go_to_the_pages_of_files(link, page):
    assert outside.linked(f"see [it]({link}).", DOCS, DOCS) == f"see [it]({page})."


def test_no_page_has_an_address_that_sphinx_writes_to():
    assert not {"search", "genindex", "modindex", "py-modindex"} & set(pages())
    assert "Full-text search" in pages()["files/docs/search"].partition("\n")[0]


def test_markdown_shows_letters_as_they_are():
    assert escaped("a*b_c |x| `d*e` <f> [g]") == r"a\*b\_c \|x\| `d*e` \<f\> \[g\]"
    assert code("a`b") == "``a`b``"
    assert block("```").startswith("````")
    assert table(["x"], [["`a|b`\nc"]]) == "| x |\n| --- |\n| `a\\|b` c |"


def test_docstrings_become_headings_formulas_and_code():
    text = as_markdown("""A thing. It does more.

    Formula: L = Σ a_i;
        b*c.
    Ties: none. Cost: O(n).

        >>> 1 + 1
        2
    """)
    assert text == (
        "A thing. It does more.\n\n**Formula:**\n\n```text\nL = Σ a_i;\nb*c.\n```\n\n**Ties:** none.\n\n"
        "**Cost:** O(n).\n\n```pycon\n>>> 1 + 1\n2\n```"
    )
    assert first_sentence("A thing. It does more.\n\nFormula: x") == "A thing."


def test_the_summary_of_a_page_is_its_first_sentence():
    assert summary("# Title\n\n<!-- not run -->\n\nRead [this](x.md)\nfirst. Then that.") == "Read this first."


def public() -> Iterator[tuple[str, Any, type | None]]:
    """(path, function or class, class of a method) of all that has parameters on the pages of the Python interface."""
    for name in podium.__all__:
        value = getattr(podium, name)
        own = {f"podium.{name}": value}
        if inspect.ismodule(value):
            own = {f"podium.{name}.{word}": getattr(value, word) for word in getattr(value, "__all__", ())}
        for path, thing in own.items():
            if inspect.isclass(thing) or inspect.isroutine(thing):
                yield path, thing, None
            if inspect.isclass(thing):
                functions = {word: getattr(member, "__func__", member) for word, member in members(thing)}
                yield from ((f"{path}.{word}", f, thing) for word, f in functions.items() if inspect.isfunction(f))


def test_every_parameter_of_the_public_interface_is_explained():
    unsaid = [path for thing in public() for path in unexplained(*thing)]
    assert not unsaid, f"write a line `name`: … into the docstring, or a comment behind the field: {', '.join(unsaid)}"


def scored(data, weights, depth):
    """Scores of data.

    `depth`: ranks that count.
    """


class Base:
    def rank(self, data, order):
        """Rank.

        `data`: what is ranked.
        """


class Derived(Base):
    def rank(self, data, order):
        """Rank again."""

    def again(self, data, order):
        """Arguments are those of `rank`; `order` is theirs."""


@dataclasses.dataclass
class Table:
    """Rows."""

    offsets: list[int]  # (Q+1,)
    names: list[str]  # (d,) of columns


def test_a_parameter_that_nothing_explains_is_noticed():
    assert list(unexplained("scored", scored)) == ["scored: data", "scored: weights"]
    assert list(unexplained("rank", Derived.rank, Derived)) == ["rank: order"]
    assert lent(Derived.rank, Derived) == {"data": "what is ranked."}
    assert list(unexplained("again", Derived.again, Base)) == []


def test_a_shape_alone_explains_no_field(monkeypatch):
    monkeypatch.setattr(
        "docs._extensions.site_pages.arguments.meanings", lambda cls: {"offsets": "(Q+1,)", "names": "(d,) of columns"}
    )
    assert list(unexplained("Table", Table)) == ["Table: offsets"]


def test_what_other_methods_explain_is_shown_with_each_method():
    [page] = [text for path, text in pages().items() if path == "reference/api/Model"]
    assert page.count("- `group`: sizes of consecutive queries of an array, instead of `qid`.") >= 6


def test_the_comparison_with_other_tools_counts_what_is_there():
    count = {kind: len(things_of(kind)) for kind in KINDS}
    fusions = count["aggregator"] + count["supervised aggregator"]
    assert f"| ranking losses | {count['loss']}, with any scorer |" in pages()["peers"]
    assert f"| {count['metric']}; {len(PRESETS)} presets |" in pages()["peers"]
    assert f"| {fusions} rules, {count['supervised aggregator']} of them learned |" in pages()["peers"]
    assert f"| {count['target']} targets, with proof; into live engines |" in pages()["peers"]
