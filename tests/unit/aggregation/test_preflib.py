"""PrefLib files: what they say, what is refused, and real ones where they are at hand."""

import io
from pathlib import Path

import numpy as np
import pytest

from podium.aggregation import Aggregator
from podium.aggregation.rankings.preflib import read_preflib
from podium.base.errors import DataError

HERE = Path(__file__).parents[3].parent / "shared/data/preflib"
real = pytest.mark.skipif(not HERE.is_dir(), reason="no PrefLib files beside the checkout")
NAN = float("nan")


def read(text):
    return read_preflib(io.BytesIO(text.encode()))


def test_votes_have_names_ties_gaps_and_counts():
    votes = read(
        "# FILE NAME: 9-1.toi\n# DATA TYPE: toi\n# NUMBER VOTERS: 5\n# ALTERNATIVE NAME 1: Cid Z\n"
        "# ALTERNATIVE NAME 2: Bob\n# ALTERNATIVE NAME 3: Ann\n3: 2,{1, 3}\n2: {3}, 1\n"
    )
    assert votes.query_ids.tolist() == ["9-1"]
    assert votes.document_ids.tolist() == ["Ann", "Bob", "Cid Z"]
    assert np.array_equal(votes.query(0).matrix(), [[2, 1, 2], [1, NAN, 2]], equal_nan=True)
    assert votes.weights.tolist() == [3, 2]
    assert votes.source(1) == "<data>:8"


def test_alternatives_without_names_are_called_by_number_and_equal_names_are_told_apart():
    assert read("1: 2,7\n").document_ids.tolist() == ["2", "7"]
    names = "# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2: Ann\n"
    assert read(names + "1: 1,2\n").document_ids.tolist() == ["Ann 1", "Ann 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1: 1,2,1\n", r"<data>:1: alternative 1 stands twice"),
        ("1: 1,2\n2:\n", r"<data>:2: an empty ranking"),
        ("# nothing\n", r"<data>: no votes"),
        ("x: 1,2\n", r"<data>:1: expected a vote like 3: 1,2"),
        ("²: 1,2\n", r"<data>:1: expected a vote like 3: 1,2"),
        ("9" * 5000 + ": 1,2\n", r"<data>:1: expected a vote like 3: 1,2"),
        ("1: ²,2\n", r"<data>:1: alternatives are numbers; got '²'"),
        ("# ALTERNATIVE NAME x: A\n1: 1,2\n", r"<data>: expected '# ALTERNATIVE NAME number: name'"),
        ("1: 1,{2,3\n", r"<data>:1: cannot read the order '1,\{2,3': check its commas and braces"),
        ("1: 1,,3\n", r"<data>:1: cannot read the order"),
        ("1: 1,b\n", r"<data>:1: alternatives are numbers; got 'b'"),
        (
            "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n1: 1,2\n",
            r"<data>:3: a soc file ranks all 3 alternatives; got 2",
        ),
        ("# DATA TYPE: soi\n1: {1,2}\n", r"<data>:2: a soi file has no ties"),
        ("# NUMBER VOTERS: 3\n1: 1,2\n", r"<data>: the head promises 3 voters, but the votes add up to 1"),
        ("# ALTERNATIVE NAME 1: A\n1: 1,2\n", r"<data>:2: alternative 2 has no name in the head"),
    ],
)
def test_wrong_files_are_refused_by_line(text, message):
    with pytest.raises(DataError, match=message):
        read(text)


@real
def test_every_file_at_hand_is_read():
    for path in sorted(HERE.glob("*.[st]o[ci]"))[::7]:
        votes = read_preflib(path)
        assert votes.n_queries == 1
        assert votes.n_documents > 1


@real
@pytest.mark.parametrize("method", ["borda", "mc4", "copeland", "kemeny", "rrf(k=1)", "footrule(unranked=last)"])
def test_the_season_of_2020_goes_to_hamilton(method):
    votes = read_preflib(HERE / "00052-00000071.soi")
    assert Aggregator.parse(method)(votes).order(0)[0] == "hamilton"


@real
@pytest.mark.parametrize("method", ["borda", "mc1", "mc2", "mc3", "mc4", "copeland", "kemeny", "rrf", "footrule"])
def test_five_thousand_people_agree_on_the_best_and_the_worst_sushi_by_any_method(method):
    order = Aggregator.parse(method)(read_preflib(HERE / "00014-00000001.soc")).order(0)
    assert (order[0], order[-1]) == ("tamago (egg)", "tekka-maki (tuna roll)")  # alternatives 7 and 9 of the file


@real
def test_the_order_of_the_skating_judges_is_proven():
    found = Aggregator.parse("kemeny")(read_preflib(HERE / "00006-00000001.toc"))
    assert found.gaps[0] == 0.0
    assert found.order(0)[:2] == ["Alexei Yagudin", "Alexander Abt"]
