import io
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.base.errors import ConvergenceWarning, DataError
from podium.graph import Visit, browserank, make_links, pagerank, read_visits
from reference import graph as reference

VISITS = [(0, 10, 1), (1, 20, 2), (2, 5, None), (0, 30, 2), (2, 15, None), (1, 40, None)]
SESSIONS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.floats(0.1, 100)), min_size=1, max_size=5), min_size=1, max_size=8
)


def visits_of(sessions):
    for session in sessions:
        following = [page for page, _ in session[1:]] + [None]
        yield from ((page, seconds, after) for (page, seconds), after in zip(session, following, strict=True))


def test_the_worked_example():
    assert list(browserank(VISITS).values()) == pytest.approx([0.334099, 0.463562, 0.202339], abs=5e-7)


def test_with_equal_stays_it_is_the_embedded_chain():
    found = browserank([(page, 7, after) for page, _, after in VISITS])
    assert list(found.values()) == pytest.approx([0.318852, 0.294938, 0.386210], abs=5e-7)


@given(SESSIONS)
def test_it_is_the_null_vector_of_the_generator(sessions):
    pages = list(dict.fromkeys(page for page, _, _ in visits_of(sessions)))
    named = [[(pages.index(page), seconds) for page, seconds in session] for session in sessions]
    found = browserank(visits_of(named))
    expected = reference.browserank(named, len(pages))
    assert [found[page] for page in range(len(pages))] == pytest.approx(expected, abs=1e-8)


def test_equal_stays_and_starts_everywhere_make_it_pagerank_of_step_counts():
    sessions = [[(0, 1.0), (1, 1.0), (2, 1.0), (0, 1.0)], [(1, 1.0), (0, 1.0)], [(2, 1.0), (0, 1.0), (2, 1.0)]]
    steps = [(a, b, 1.0) for session in sessions for (a, _), (b, _) in itertools.pairwise(session)]
    expected = pagerank(make_links(steps, range(3)))
    assert browserank(visits_of(sessions)) == pytest.approx(expected, abs=1e-9)


def test_a_page_without_a_visit_of_its_own_has_the_mean_stay():
    found = browserank([("a", 10, "b"), ("a", 30, None)])
    assert found["b"] > 0
    assert found == pytest.approx(browserank([("a", 10, "b"), ("b", 20, None), ("a", 30, None)]), abs=1e-9)


def test_a_session_that_breaks_off_ends_where_the_next_visit_is_of_another_page():
    broken, whole = [("a", 1, "b"), ("c", 5, None)], [("a", 1, "b"), ("b", 3, None), ("c", 5, None)]
    assert browserank(broken) == pytest.approx(browserank(whole), abs=1e-9)


@given(st.lists(st.floats(0.1, 20), min_size=2, max_size=6))
def test_noise_is_taken_off_the_stay_as_the_paper_fits_it(stays):
    mean, variance = np.mean(stays), np.var(stays, ddof=1)
    visits = [("a", seconds, None) for seconds in stays] + [("b", 1.0, None)]
    plain, found = browserank(visits), browserank(visits, noise=True)
    stay = found["a"] / found["b"] / (plain["a"] / plain["b"]) * mean  # b has one visit: its stay is 1
    grid = np.linspace(mean * 1e-4, mean, 20_001)
    off = ((mean - grid) - 0.5 * (variance - grid**2)) ** 2
    if variance >= mean**2:
        assert stay == pytest.approx(mean)
    else:
        assert ((mean - stay) - 0.5 * (variance - stay**2)) ** 2 <= off.min() + 1e-8
        assert 0 < stay <= mean * (1 + 1e-9)


def test_no_visits_give_no_scores():
    assert browserank([]) == {}


def test_too_few_rounds_are_said():
    with pytest.warns(ConvergenceWarning, match="browserank.*after 2 rounds"):
        browserank(VISITS, rounds=2)


@pytest.mark.parametrize("seconds", [0, -1, np.nan, np.inf])
def test_a_stay_that_is_not_above_zero_is_an_error(seconds):
    with pytest.raises(DataError, match="page 'a' must be above 0 seconds"):
        browserank([("a", seconds, None)])


def test_a_file_of_visits_is_read():
    file = io.BytesIO(b"# page seconds next\na 10 b\nb 2.5\n\nmy page\t3\t\n")
    assert list(read_visits(file)) == [Visit("a", 10.0, "b"), Visit("b", 2.5), Visit("my page", 3.0)]


@pytest.mark.parametrize("line", [b"a\n", b"a 1 b c\n", b"a x b\n", b"a 0 b\n", b"a nan b\n"])
def test_a_bad_line_is_named(line):
    with pytest.raises(DataError, match=":2: "):
        list(read_visits(io.BytesIO(b"a 1 b\n" + line)))
