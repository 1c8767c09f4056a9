"""Preferences and labels from clicks, written down as they are defined: pages are (query, documents, clicked)."""

import itertools
from collections import Counter


def page_rule(rule, documents, times):
    """(winner, loser) of every preference on a page; `times` maps clicked positions, from 0, to times or None."""
    n, clicked = len(documents), sorted(times)
    found = []
    if rule == "click-above":
        found = [(i, j) for i in clicked for j in range(i) if j not in times]
    elif rule == "last-click-above" and clicked:
        timed = all(time is not None for time in times.values())
        last = max(clicked, key=lambda i: (times[i], i)) if timed else clicked[-1]
        found = [(last, j) for j in range(last) if j not in times]
    elif rule == "click-earlier-click":
        found = [(i, j) for i in clicked for j in clicked if None not in (times[i], times[j]) and times[i] > times[j]]
    elif rule == "click-previous":
        found = [(i, i - 1) for i in clicked if i > 0 and i - 1 not in times]
    elif rule == "click-next":
        found = [(i, i + 1) for i in clicked if i + 1 < n and i + 1 not in times]
    return [(documents[i], documents[j]) for i, j in found]


def chains(pages, gap):
    """Counter of (query, winner, loser); pages are (visit, minute, query, documents, clicked positions from 0)."""
    found = Counter()
    ordered = sorted(pages, key=lambda page: page[:2])
    for number, (visit, minute, query, documents, clicked) in enumerate(ordered):
        own = [(i, j) for i in clicked for j in range(i) if j not in clicked]
        if 0 in clicked and 1 not in clicked and len(documents) > 1:
            own.append((0, 1))
        for i, j in own:
            found[query, documents[i], documents[j]] += 1
        if number == 0:
            continue
        earlier_visit, earlier_minute, earlier, earlier_documents, earlier_clicked = ordered[number - 1]
        if earlier_visit != visit or minute - earlier_minute > gap or earlier == query:
            continue
        for i, j in own:
            found[earlier, documents[i], documents[j]] += 1
        examined = max(earlier_clicked) + 2 if earlier_clicked else 2
        for i in clicked:
            for j in range(min(examined, len(earlier_documents))):
                if j not in earlier_clicked and earlier_documents[j] != documents[i]:
                    found[earlier, documents[i], earlier_documents[j]] += 1
    return found


def rate_differences(pages):
    """{(query, A, B): (k, m)} for A shown above B: of m pages with one of them clicked, k with B; kept if k > m − k."""
    counts = {}
    for query, documents, clicked in pages:
        for i, j in itertools.combinations(range(len(documents)), 2):
            if (i in clicked) != (j in clicked):
                k, m = counts.get((query, documents[i], documents[j]), (0, 0))
                counts[query, documents[i], documents[j]] = k + (j in clicked), m + 1
    return {key: (k, m) for key, (k, m) in counts.items() if k > m - k}


def agreement(labels, weights):
    """Σ w(u, v) over u labelled above v, minus the same over u labelled below v."""
    return sum(w * (int(labels[u] > labels[v]) - int(labels[u] < labels[v])) for (u, v), w in weights.items())


def best_agreement(n, n_labels, weights):
    """The largest agreement of any labels of n documents."""
    return max(agreement(labels, weights) for labels in itertools.product(range(n_labels), repeat=n))


def best_cut(order, n_labels, weights):
    """The largest agreement of labels that fall along an order."""
    n = len(order)
    best = 0
    for cuts in itertools.combinations_with_replacement(range(n + 1), n_labels - 1):
        labels = {document: sum(place < cut for cut in cuts) for place, document in enumerate(order)}
        best = max(best, agreement(labels, weights))
    return best
