"""Expected losses of DCG as they are printed: every list is sorted anew."""

import math


def best_dcg(gains, cutoff):
    """B: the DCG of gains in their best order."""
    ordered = sorted(gains, reverse=True)[:cutoff]
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ordered, 1))


def elo_of_query(gains, cutoff):
    """(1/N) Σ_j B(g_j) − B(ḡ); gains[j][i] of member j and document i."""
    means = [sum(column) / len(gains) for column in zip(*gains, strict=True)]
    return sum(best_dcg(own, cutoff) for own in gains) / len(gains) - best_dcg(means, cutoff)


def elo_of_document(gains, i, cutoff):
    """(1/N) Σ_j [(1/N) Σ_p B(g_j with g_p at i) − B(g_j with ḡ at i)]."""
    mean = sum(own[i] for own in gains) / len(gains)

    def at_i(own, gain):
        return best_dcg([*own[:i], gain, *own[i + 1 :]], cutoff)

    return sum(sum(at_i(own, other[i]) for other in gains) / len(gains) - at_i(own, mean) for own in gains) / len(gains)
