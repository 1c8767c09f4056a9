"""Ids as bytes: the same as with Python's dictionaries and sorting."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.parsing.ids import Ids, encoded, lines

names = st.lists(st.one_of(st.sampled_from(["a", "b", "aa", "a\0", ""]), st.text(max_size=20)), max_size=30)
names = names.map(lambda found: [name.encode("utf-8", "replace").decode() for name in found])


def cuts(n, seed):
    return np.sort(np.concatenate([[0, n], np.random.default_rng(seed).integers(0, n + 1, 3)])).astype(np.int64)


@settings(max_examples=100, deadline=None)
@given(names, names, st.integers(0, 5))
def test_ids_are_numbered_found_and_ordered_as_python_does(some, others, seed):
    ids, known = Ids.of(some), Ids.of(np.array([*others, None], dtype=object)[:-1])
    assert ids.tolist() == list(ids) == some
    assert [ids[k] for k in range(len(ids))] == some
    numbers = {name: k for k, name in enumerate(dict.fromkeys(some))}
    codes, firsts = ids.codes()
    assert codes.tolist() == [numbers[name] for name in some]
    assert firsts.tolist() == [some.index(name) for name in numbers]
    in_order = sorted(set(some), key=encoded)
    assert ids.ranks().tolist() == [in_order.index(name) for name in some]
    offsets, cut = cuts(len(some), seed), cuts(len(others), seed + 1)
    parts = [some[a:b] for a, b in pairwise(offsets)]
    again = [name in part[:k] for part in parts for k, name in enumerate(part)]
    assert ids.repeats(offsets).tolist() == np.flatnonzero(again).tolist()
    expected = []
    for part, a, b in zip(parts, cut[:-1], cut[1:], strict=True):
        there = {name: a + k for k, name in enumerate(others[a:b])}
        expected += [others[there[name]] if name in there else None for name in part]
    found = ids.find_in(known, cut, offsets)
    assert [None if row < 0 else others[row] for row in found] == expected


def test_lines_are_the_columns_with_blanks_between():
    columns = [Ids.of(["q", "query"]), Ids.of(["a long name of a document", "d"]), Ids.of(["é", ""])]
    assert lines(columns) == "q a long name of a document é\nquery d \n".encode()
    assert lines([column[[1, 0, 1]] for column in columns]).count(b"\n") == 3


def test_an_id_with_white_space_or_nothing_in_it_cannot_be_written():
    assert Ids.of(["a", "b\u00a0c", "\x1c"]).first_unwritable() == -1
    for bad in ("", " ", "a b", "a\t", "\r"):
        assert Ids.of(["a", bad]).first_unwritable() == 1


def test_joined_ids_are_those_of_all_parts():
    assert Ids.joined([Ids.of(["a", "b"])[[1, 0]], Ids.of([]), Ids.of(["c"])]).tolist() == ["b", "a", "c"]
    assert np.asarray(Ids.of(["x", "y"])).tolist() == ["x", "y"]


def test_ids_compare_one_by_one_as_an_array_of_text_does():
    ids = Ids.of(["b", "a", "é"])
    assert (ids == "a").tolist() == [False, True, False]
    assert (ids == Ids.of(["b", "x", "é"])).tolist() == [True, False, True]
    assert ids[ids == "é"].tolist() == ["é"]
