import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.base.errors import ConvergenceWarning, DataError, ParameterError
from podium.graph import make_links, pagerank
from reference import graph as reference

EDGES = [(0, 1), (0, 2), (1, 2), (3, 2)]
GRAPHS = st.integers(2, 8).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=25))
)


def test_the_worked_example():
    found = pagerank(EDGES)
    assert list(found.values()) == pytest.approx([0.144692, 0.206186, 0.504431, 0.144692], abs=5e-7)


@given(GRAPHS, st.sampled_from([0.0, 0.5, 0.85]))
def test_it_solves_its_equation(graph, damping):
    n, edges = graph
    found = pagerank(make_links(edges, range(n)), damping=damping)
    assert list(found.values()) == pytest.approx(reference.pagerank(reference.adjacency(edges, n), damping), abs=1e-9)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)


@given(GRAPHS, st.data())
def test_a_restart_is_where_walks_begin(graph, data):
    n, edges = graph
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)), float)
    found = pagerank(make_links(edges, range(n)), restart=dict(enumerate(weights)))
    expected = reference.pagerank(reference.adjacency(edges, n), restart=weights / weights.sum())
    assert list(found.values()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_networkx_agrees(weighted):
    rng = np.random.default_rng(3)
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, 60, (200, 2)) if a != b]
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(60))
    edges = [(a, b, float(rng.integers(1, 5))) for a, b in dict.fromkeys(pairs)] if weighted else pairs
    graph.add_weighted_edges_from(edges if weighted else [(a, b, 1.0) for a, b in edges])
    expected = networkx.pagerank(graph, tol=1e-14, max_iter=1000)
    found = pagerank(make_links(edges, range(60)), tolerance=1e-14)
    assert found == pytest.approx(expected, abs=1e-12)


def test_renaming_and_reordering_nodes_changes_nothing():
    found, other = pagerank(EDGES), pagerank([(f"n{a}", f"n{b}") for a, b in reversed(EDGES)])
    assert {f"n{node}": score for node, score in found.items()} == pytest.approx(other, abs=1e-12)


def test_a_graph_without_links_is_uniform_and_an_empty_one_empty():
    assert pagerank(make_links([], "ab")) == {"a": 0.5, "b": 0.5}
    assert pagerank([]) == {}


def test_too_few_rounds_are_said():
    with pytest.warns(ConvergenceWarning, match="pagerank.*after 3 rounds.*more rounds"):
        pagerank(EDGES, rounds=3)


@pytest.mark.parametrize("wrong", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": 0.0}, {"rounds": 0}])
def test_parameters_out_of_range_are_errors(wrong):
    with pytest.raises(ParameterError, match="pagerank"):
        pagerank(EDGES, **wrong)


@pytest.mark.parametrize("restart", [{9: 1.0}, {0: -1.0}, {0: 0.0}])
def test_a_restart_that_is_none_is_an_error(restart):
    with pytest.raises(DataError, match="restart"):
        pagerank(EDGES, restart=restart)
