"""The kit of pages: text stays text, charts stay within their axes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import podium
from podium.pages.kit import lines, static_page, table

NASTY = "<script>alert('\"')</script>"


def test_text_is_never_markup() -> None:
    chart = lines({NASTY: [1.0, 0.5]}, label=NASTY, x_name=NASTY, y_name=NASTY)
    text = static_page(NASTY, NASTY, {NASTY: chart + table([NASTY], [[NASTY]], label=NASTY, links={0: NASTY})})
    assert "<script" not in text
    assert "'\"'" not in text


def test_values_above_the_highest_are_drawn_there_and_gaps_are_left_out() -> None:
    chart = lines(
        {"value": [1.0, math.nan, 9.0], "rate": [0.5, 0.5, 0.5]},
        label="", x_name="", y_name="", high=2.0, band=([1.0, 9.0, math.nan], [1.0, 0.5, math.nan]), dashed=["rate"],
    )  # fmt: skip
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', chart)
    highest = min(float(y) for y in re.findall(r'<line class="\w+" [^>]*y1="([\d.]+)"', chart))
    assert [float(y) for _, y in dots][1:] == [highest]  # of 9; the gap and the dashed line have no dot
    (outline,) = re.findall(r'<polygon points="([^"]+)"', chart)
    assert len(outline.split()) == 4
    assert min(float(place.split(",")[1]) for place in outline.split()) == highest


def test_one_place_writes_the_head_of_a_document() -> None:
    root = Path(podium.__file__).parent
    assert [path.name for path in root.rglob("*.py") if "<!doctype" in path.read_text().lower()] == ["kit.py"]
