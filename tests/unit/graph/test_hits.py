import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.base.errors import ConvergenceWarning, ParameterError
from podium.graph import hits, make_links
from reference import graph as reference

EDGES = [(0, 1), (0, 2), (1, 2), (3, 2)]


def test_the_worked_example():
    found = hits(EDGES)
    assert list(found.authority.values()) == pytest.approx([0, 1 - np.sqrt(0.5), np.sqrt(0.5), 0], abs=1e-9)
    assert list(found.hub.values()) == pytest.approx([np.sqrt(2) - 1, 1 - np.sqrt(0.5), 0, 1 - np.sqrt(0.5)], abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20).filter(
        lambda edges: any(a != b for a, b in edges)
    )
)
def test_they_are_the_leading_eigenvectors(edges):
    A = reference.adjacency(edges, 6)
    authority, hub = reference.hits(A)
    found = hits(make_links(edges, range(6)), rounds=100_000, tolerance=1e-13)
    assert list(found.authority.values()) == pytest.approx(authority, abs=1e-6)
    assert list(found.hub.values()) == pytest.approx(hub, abs=1e-6)


def test_networkx_agrees():
    rng = np.random.default_rng(4)
    edges = [(int(a), int(b)) for a, b in rng.integers(0, 40, (300, 2)) if a != b]
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(40))
    graph.add_edges_from(edges)
    hub, authority = networkx.hits(graph)
    found = hits(make_links(edges, range(40)))
    assert found.authority == pytest.approx(authority, abs=1e-8)
    assert found.hub == pytest.approx(hub, abs=1e-8)


def test_parts_of_a_graph_that_are_alike_get_like_scores():
    found = hits([("a", "b"), ("c", "d")])
    assert found.authority == {"a": 0.0, "b": 0.5, "c": 0.0, "d": 0.5}
    assert found.hub == {"a": 0.5, "b": 0.0, "c": 0.5, "d": 0.0}


def test_without_links_all_scores_are_equal():
    assert hits(make_links([], "ab")) == ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5})
    assert hits([]) == ({}, {})


def test_too_few_rounds_are_said():
    with pytest.warns(ConvergenceWarning, match="hits.*after 2 rounds"):
        hits(EDGES, rounds=2)


@pytest.mark.parametrize("wrong", [{"tolerance": 0.0}, {"rounds": 0}])
def test_parameters_out_of_range_are_errors(wrong):
    with pytest.raises(ParameterError, match="hits"):
        hits(EDGES, **wrong)
