"""The README's table of families is that of methods.py."""

from __future__ import annotations

import re
from pathlib import Path

from podium.aggregation import Aggregator, SupervisedAggregator
from podium.methods import METHODS

README = Path(__file__).parents[2] / "README.md"


def row(family: str) -> list[str]:
    """The names in a row of the README's table; a1–a3 stands for a1, a2, a3."""
    [line] = re.findall(rf"^\| {family} \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    names: list[str] = []
    for word in line.split(", "):
        run = re.fullmatch(r"([a-z]+)(\d)–\1(\d)", word)
        names += [word] if run is None else [f"{run[1]}{k}" for k in range(int(run[2]), int(run[3]) + 1)]
    return names


def test_every_method_is_listed_under_its_family() -> None:
    for family in dict.fromkeys(found.family for found in METHODS.values()):
        expected = [name for name, found in METHODS.items() if found.family == family]
        assert row(family) == expected, f"write in README.md: | {family} | {', '.join(expected)} |"


def test_every_aggregator_is_listed() -> None:
    expected = {*Aggregator.catalogue(), *SupervisedAggregator.catalogue()}
    missing, gone = expected - set(row("aggregation")), set(row("aggregation")) - expected
    assert not missing, f"add to the row of aggregation in README.md: {', '.join(sorted(missing))}"
    assert not gone, f"remove from the row of aggregation in README.md: {', '.join(sorted(gone))}"
