"""The query language by a scan of all documents, each a dict of fields with lists of words."""

import itertools
import math

from podium.text.query_language import Filter, Fuzzy, Group, Prefix


def matches(node, document, stored):
    """Whether a document matches; `stored` says whether a condition holds for it."""
    if isinstance(node, Filter):
        return stored(node.condition)
    if not isinstance(node, Group):
        return any(counts(node, document))
    of = {sign: [c.node for c in node.clauses if c.sign == sign] for sign in ("+", "-", "")}
    holds = {sign: [matches(part, document, stored) for part in parts] for sign, parts in of.items()}
    only_filters = all(isinstance(part, Filter) for part in of["+"])
    optional = not of[""] or not only_filters
    return all(holds["+"]) and not any(holds["-"]) and (any(holds[""]) or (optional and bool(of["+"])))


def counts(leaf, document):
    """How often each field has a leaf."""
    return [0 if leaf.field not in (None, name) else _count(leaf, words) for name, words in document.items()]


def _count(leaf, words):
    if isinstance(leaf, Prefix):
        return sum(word.startswith(leaf.letters) for word in words)
    if isinstance(leaf, Fuzzy):
        return sum(distance(leaf.word, word) <= leaf.typos for word in words)
    return phrase_count(leaf.words, words, leaf.near)


def phrase_count(phrase, words, near):
    """Matches from left to right without overlap: the first beginning at which all fit, then the earliest end."""
    free, total = 0, 0
    while True:
        ends = {}
        for places in itertools.permutations(range(free, len(words)), len(phrase)):
            if all(words[p] == word for p, word in zip(places, phrase, strict=True)):
                begins = [p - i for i, p in enumerate(places)]
                if max(begins) - min(begins) <= near:
                    begin = max(begins) - near
                    ends[begin] = min(ends.get(begin, len(words)), max(places))
        if not ends:
            return total
        total, free = total + 1, _earliest_end(phrase, words, near, free, min(ends)) + 1


def _earliest_end(phrase, words, near, free, begin):
    """The smallest last place of a match whose beginnings are from `begin` to `begin` + near."""
    choices = [
        [p for p in range(max(begin + i, free), min(begin + i + near + 1, len(words))) if words[p] == word]
        for i, word in enumerate(phrase)
    ]
    return min(max(places) for places in itertools.product(*choices) if len(set(places)) == len(places))


def distance(a, b):
    """Optimal string alignment distance, by its recursion."""
    if not a or not b:
        return len(a) + len(b)
    ways = [distance(a[:-1], b) + 1, distance(a, b[:-1]) + 1, distance(a[:-1], b[:-1]) + (a[-1] != b[-1])]
    if len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and a[-2] == b[-1]:
        ways.append(distance(a[:-2], b[:-2]) + 1)
    return min(ways)


def bm25(leaves, documents, weights, k1=1.2, b=0.75):
    """BM25 of each document by leaves, pairs of a node and its weight; `weights` are those of fields."""
    lengths = [sum(weights[f] * len(words) for f, words in d.items()) for d in documents]
    mean, scores = sum(lengths) / len(documents) or 1.0, [0.0] * len(documents)
    for leaf, weight in leaves:
        per_field = [counts(leaf, d) for d in documents]
        df = sum(any(c) for c in per_field)
        idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
        for k, found in enumerate(per_field):
            c = sum(count * weights[f] for count, f in zip(found, documents[k], strict=True))
            if c:
                scores[k] += weight * idf * c * (k1 + 1) / (c + k1 * (1 - b + b * lengths[k] / mean))
    return scores
