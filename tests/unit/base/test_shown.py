"""Results show themselves: text, HTML, data frames and LaTeX, whatever the names in them are."""

from __future__ import annotations

import importlib.util
import math
import re
from html.parser import HTMLParser

import pytest

from podium.base.errors import MissingPackageError
from podium.base.shown import Shown, ShownTable, clean, facts_html

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a&b",
    "\x1b[31mred\x07",
    "a\nb\tc",
    "\udcff",
    "\u202eabc",
]


class Tags(HTMLParser):
    """The tags, the attributes and the text of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attributes}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def table(**changes: object) -> ShownTable:
    return ShownTable("title", ["name", "value"], [["a", 0.25], ["b", float("nan")]], **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_of_a_file_becomes_markup_or_a_control_character(text: str) -> None:
    shown = ShownTable(text, [text, "value"], [[text, 1.0]], notes=[text], marks={(0, 1): text}, bars=1)
    page = Tags(shown.html())
    assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "span", "sup"}
    assert page.names <= {"style", "scope"}
    assert clean(text) in page.words
    shown.html().encode()  # a lone surrogate would not be UTF-8
    assert all(letter.isprintable() or letter == "\n" for letter in shown.text())
    assert len(shown.text().splitlines()) == 4


def test_html_has_no_colour_of_its_own() -> None:
    styles = re.findall(r'style="([^"]*)"', table(bars=1, bold={(0, 1)}).html())
    assert styles
    assert not any(re.search(r"#|rgb|white|black|(?<!current)color:", style) for style in styles)


def test_numbers_are_aligned_rounded_and_missing_ones_are_dashes() -> None:
    assert table(marks={(0, 1): "ab"}, notes=["a note"]).text() == (
        "title\nname      value\na     0.2500 ab\nb          –\na note"
    )


def test_long_tables_are_cut_in_text_and_html_but_not_in_frames_and_latex() -> None:
    shown = ShownTable("", ["n", "value"], [[n, n / 7] for n in range(50)])
    assert shown.text(most=3).splitlines()[-1] == "… and 47 more"
    assert shown.html(most=3).count("<tr>") == 1 + 3
    assert shown.latex().count(r"\\") == 1 + 50
    assert shown.frame()["value"].tolist() == [n / 7 for n in range(50)]


def test_bars_are_in_proportion_and_negative_ones_are_outlines() -> None:
    text = ShownTable("", ["f", "share"], [["a", 2.0], ["b", -1.0], ["c", 0.5], ["d", None]], bars=1).html()
    assert re.findall(r"height:.6em;width:([\d.]+)em", text) == ["6.00", "3.00", "1.50"]
    assert text.count("background:currentColor") == 2


def test_latex_escapes_text_and_needs_booktabs() -> None:
    text = ShownTable(
        "", ["a_b", "50 %"], [["x & y", 0.5], ["~^\\{}$#", 0.25]], bold={(0, 1)}, comments=["50 %\n\\x"]
    ).latex()
    assert text.startswith("% 50 % \\x\n% needs \\usepackage{booktabs}\n\\begin{tabular}{lr}\n\\toprule\n")
    assert r"a\_b & 50 \% \\" in text
    assert r"x \& y & \textbf{0.5000} \\" in text
    assert r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}\$\# & 0.2500 \\" in text
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")


def test_a_caption_or_a_label_makes_a_table_environment() -> None:
    text = table().latex(caption=r"Means of \emph{runs}.", label="tab:runs")
    assert "\\begin{table}\n\\centering\n\\caption{Means of \\emph{runs}.}\n\\label{tab:runs}\n\\begin{tabular}" in text
    assert text.endswith("\\end{tabular}\n\\end{table}\n")
    assert "\\caption" not in table().latex(label="x")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"needs pandas, .* pip install 'podium\[frames\]'"):
        table().frame()


def test_frames_of_other_libraries_have_the_same_numbers() -> None:
    for backend in ("polars", "pyarrow"):
        frame = table().frame(backend)  # type: ignore[arg-type]
        assert list(frame["name"].to_pylist() if backend == "pyarrow" else frame["name"]) == ["a", "b"]
    assert math.isnan(table().frame()["value"][1])


def test_what_derives_from_shown_has_all_four() -> None:
    class Result(Shown):
        def _shown(self) -> ShownTable:
            return table()

    assert repr(Result()) == table().text()
    assert Result()._repr_html_() == table().html()
    assert Result().to_frame().shape == (2, 2)
    assert Result().to_latex() == table().latex()


def test_facts_leave_out_what_is_empty_and_escape_the_rest() -> None:
    page = Tags(facts_html("Dataset", {"source": "<b>", "labels": ""}))
    assert "<b>" in page.words
    assert "labels" not in page.words
