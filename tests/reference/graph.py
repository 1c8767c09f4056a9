"""Scores of nodes by dense linear algebra: slow and obvious."""

import itertools

import numpy as np


def adjacency(edges, n):
    """A[i, j] = 1 if i links to j, without self-links."""
    A = np.zeros((n, n))
    for source, target in edges:
        if source != target:
            A[source, target] = 1.0
    return A


def pagerank(A, damping=0.85, restart=None):
    """The solution of p = damping · (Pᵀ + dangling · 1/N) p + (1 − damping) · v · Σp with Σp = 1."""
    n = len(A)
    v = np.full(n, 1 / n) if restart is None else restart
    P = np.array([row / row.sum() if row.sum() else np.full(n, 1 / n) for row in A])
    return np.linalg.solve(np.eye(n) - damping * P.T, (1 - damping) * v)


def hits(A):
    """The projection of the uniform vector on the leading eigenspace of AᵀA, and the hubs that belong to it."""
    values, vectors = np.linalg.eigh(A.T @ A)
    leading = vectors[:, values > values[-1] * (1 - 1e-9)]
    authority = leading @ (leading.T @ np.full(len(A), 1 / len(A)))
    hub = A @ authority
    return authority / authority.sum(), hub / hub.sum()


def browserank(sessions, n, damping=0.85):
    """The null vector of the generator Q = diag(q)(P − I), from sessions: lists of (page, seconds)."""
    steps, starts, stays = np.zeros((n, n)), np.zeros(n), [[] for _ in range(n)]
    for session in sessions:
        starts[session[0][0]] += 1
        for page, seconds in session:
            stays[page].append(seconds)
        for (page, _), (following, _) in itertools.pairwise(session):
            steps[page, following] += 1
    sigma = starts / starts.sum()
    P = np.array([damping * row / row.sum() + (1 - damping) * sigma if row.sum() else sigma for row in steps])
    Q = np.diag([1 / np.mean(of_page) for of_page in stays]) @ (P - np.eye(n))
    equations = np.vstack([Q.T, np.ones(n)])
    return np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0]
