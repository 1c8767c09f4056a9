"""The report of an arena in a real browser: it fits phones, with long names, many players, judges and groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from browser.devtools import CHROMIUM, Browser
from podium.arena import rate
from podium.pages.arena import page

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]

LONG = "a-model-whose-name-is-longer-than-a-phone-is-wide-" * 2


@pytest.mark.parametrize("width", [360, 1100])
def test_the_page_of_an_arena_fits_phones_and_screens(tmp_path: Path, width: int) -> None:
    rng = np.random.default_rng(0)
    names = [LONG, "<b>bold</b>", *(f"model {k}" for k in range(30))]
    rows = []
    for k in range(400):
        a, b = rng.choice(len(names), 2, replace=False).tolist()
        winner = str(rng.choice(["a", "b", "tie"]))
        judge, task = f"{'a judge of many words ' * 4}{k % 40}", f"{'task' * 30}{k % 2}"
        rows.append({"a": names[a], "b": names[b], "winner": winner, "judge": judge, "task": task})
    report = tmp_path / "arena.html"
    report.write_text(page(rate(rows)), encoding="utf-8")
    with Browser(seconds=120) as browser:
        for dark in (False, True):
            browser.open(report, width=width, dark=dark)
            assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.problems == []
