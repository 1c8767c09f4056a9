"""Features of a query and a document, slow and obvious, over lists of words.

A collection is a list of documents; a document is a dict from field to its list of words. A stop word is a word of
`STOP`. Every formula is a loop over words as it would be written on a blackboard.
"""

import math

import numpy as np

STOP = frozenset({"the", "of", "a"})


class Collection:
    """Documents as {field: [word, …]}; `fields` in their order."""

    def __init__(self, documents, fields):
        self.documents, self.fields = documents, fields

    def words(self, document, field):
        """All words of a field, stop words included."""
        if field == "whole":
            return [word for name in self.fields for word in document.get(name, [])]
        return document.get(field, [])

    def content(self, document, field):
        return [word for word in self.words(document, field) if word not in STOP]

    def df(self, word, field):
        return sum(word in self.words(document, field) for document in self.documents)

    def cf(self, word, field):
        return sum(self.words(document, field).count(word) for document in self.documents)

    def total(self, field):
        return sum(len(self.content(document, field)) for document in self.documents)

    def average(self, field):
        return self.total(field) / len(self.documents) if self.documents else 0.0

    def idf(self, word, field):
        df = self.df(word, field)
        return math.log(len(self.documents) / df) if df else 0.0

    def vector(self, words, field):
        """Weights ln(1 + c) ln(N/df) of the words that are no stop words."""
        content = [word for word in words if word not in STOP]
        return {word: math.log(1 + content.count(word)) * self.idf(word, field) for word in set(content)}


class Asked:
    """A query: `full` has all words in order, `content` those that count."""

    def __init__(self, collection, words):
        self.full = words
        known = [word for word in words if collection.df(word, "whole")]
        self.content = [word for word in known if word not in STOP]
        if all(word in STOP for word in words):
            self.content = known
        self.different = list(dict.fromkeys(self.content))


def tf(s, q, d, f):
    return sum(s.words(d, f).count(t) for t in q.content)


def log_tf(s, q, d, f):
    return sum(math.log(1 + s.words(d, f).count(t)) for t in q.content)


def _size(s, d, f):
    """An empty field scores as a field of one word outside the query."""
    return max(len(s.content(d, f)), 1)


def _share(s, t, d, f):
    return s.words(d, f).count(t) / _size(s, d, f)


def norm_tf(s, q, d, f):
    return sum(_share(s, t, d, f) for t in q.content)


def log_norm_tf(s, q, d, f):
    return sum(math.log(1 + _share(s, t, d, f)) for t in q.content)


def idf(s, q, d, f):
    return sum(s.idf(t, f) for t in q.content)


def log_idf(s, q, d, f):
    return sum(math.log(s.idf(t, f)) for t in q.content if s.idf(t, f) > 1)


def log_icf(s, q, d, f):
    return sum(math.log(1 + s.total(f) / s.cf(t, f)) for t in q.content if s.cf(t, f))


def tfidf(s, q, d, f):
    return sum(s.words(d, f).count(t) * s.idf(t, f) for t in q.content)


def log_norm_tfidf(s, q, d, f):
    return sum(math.log(1 + _share(s, t, d, f) * s.idf(t, f)) for t in q.content)


def log_norm_tficf(s, q, d, f):
    return sum(math.log(1 + _share(s, t, d, f) * s.total(f) / s.cf(t, f)) for t in q.content if s.cf(t, f))


def length(s, q, d, f):
    return len(s.content(d, f))


def _bm25_part(s, c, df, d, f, k1, b):
    n, average = len(s.documents), s.average(f)
    if not c or not average:
        return 0.0
    worth = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return worth * c * (k1 + 1) / (c + k1 * (1 - b + b * len(s.content(d, f)) / average))


def bm25(s, q, d, f, k1=1.2, b=0.75):
    return sum(_bm25_part(s, s.words(d, f).count(t), s.df(t, f), d, f, k1, b) for t in q.content)


def log_bm25(s, q, d, f, k1=1.2, b=0.75):
    found = bm25(s, q, d, f, k1, b)
    return math.log(found) if found > 0 else 0.0


def _language_model(s, q, d, f, probability):
    known = [t for t in q.content if s.cf(t, f)]
    if not known or not s.total(f):
        return 0.0
    L, U = _size(s, d, f), max(len(set(s.content(d, f))), 1)
    parts = [probability(s.words(d, f).count(t), s.cf(t, f) / s.total(f), L, U) for t in known]
    return sum(map(math.log, parts)) / len(parts)


def lmir_jm(s, q, d, f, lam=0.1):
    return _language_model(s, q, d, f, lambda c, p, L, U: (1 - lam) * c / L + lam * p)


def lmir_dir(s, q, d, f, mu=2000.0):
    return _language_model(s, q, d, f, lambda c, p, L, U: (c + mu * p) / (L + mu))


def lmir_abs(s, q, d, f, delta=0.7):
    return _language_model(s, q, d, f, lambda c, p, L, U: max(c - delta, 0) / L + delta * (U / L) * p)


def covered(s, q, d, f):
    return sum(t in s.words(d, f) for t in q.different)


def covered_ratio(s, q, d, f):
    return covered(s, q, d, f) / len(q.different) if q.different else 0.0


def boolean(s, q, d, f):
    return float(bool(q.different) and covered(s, q, d, f) == len(q.different))


def _per_word(s, q, d, f, of):
    one = {"tf": lambda t: s.words(d, f).count(t), "norm_tf": lambda t: _share(s, t, d, f)}
    one["tfidf"] = lambda t: s.words(d, f).count(t) * s.idf(t, f)
    return [one[of](t) for t in q.different]


def min_tf(s, q, d, f, of="tf"):
    return min(_per_word(s, q, d, f, of), default=0.0)


def max_tf(s, q, d, f, of="tf"):
    return max(_per_word(s, q, d, f, of), default=0.0)


def mean_tf(s, q, d, f, of="tf"):
    values = _per_word(s, q, d, f, of)
    return sum(values) / len(values) if values else 0.0


def var_tf(s, q, d, f, of="tf"):
    values = _per_word(s, q, d, f, of)
    mean = mean_tf(s, q, d, f, of)
    return sum((value - mean) ** 2 for value in values) / len(values) if values else 0.0


def _times(run, words):
    return sum(words[k : k + len(run)] == run for k in range(len(words) - len(run) + 1))


def exact(s, q, d, f):
    return _times(q.full, s.words(d, f)) if q.content else 0.0


def ngram_bm25(s, q, d, f, n=2, k1=1.2, b=0.75):
    if not q.content:
        return 0.0
    runs = [q.full[k : k + n] for k in range(len(q.full) - n + 1)]
    found = 0.0
    for run in runs:
        df = sum(_times(run, s.words(other, f)) > 0 for other in s.documents)
        found += _bm25_part(s, _times(run, s.words(d, f)), df, d, f, k1, b)
    return found


def _window(s, q, d, f):
    """The first of the shortest windows with all query words that occur."""
    words = s.words(d, f)
    wanted = set(q.different) & set(words)
    for size in range(len(wanted), len(words) + 1) if wanted else ():
        for start in range(len(words) - size + 1):
            if wanted <= set(words[start : start + size]):
                return words[start : start + size], len(wanted)
    return [], 0


def span(s, q, d, f):
    window, m = _window(s, q, d, f)
    return m / len(window) if m else 0.0


def edit(s, q, d, f, of="field"):
    words = s.words(d, f) if of == "field" else _window(s, q, d, f)[0]
    if not q.content:
        return 0.0
    table = {}
    for i in range(len(q.full) + 1):
        for j in range(len(words) + 1):
            if i == 0 or j == 0:
                table[i, j] = i + j
            else:
                change = table[i - 1, j - 1] + (q.full[i - 1] != words[j - 1])
                table[i, j] = min(change, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table[len(q.full), len(words)] / max(len(q.full), len(words))


def _cosine(a, b):
    sizes = math.sqrt(sum(x * x for x in a.values())) * math.sqrt(sum(x * x for x in b.values()))
    return sum(x * b.get(t, 0.0) for t, x in a.items()) / sizes if sizes > 1e-12 else 0.0


def cosine(s, q, d, f):
    known = [t for t in q.content if t not in STOP]
    return _cosine(s.vector(known, f), s.vector(s.words(d, f), f))


def prf(s, documents, scores, f, k=5):
    """Of all candidates at once: the cosine to the mean, weighted by score, of the vectors of the best k.

    Scores of which some are negative count from the lowest; all alike if they are equal.
    """
    if min(scores, default=0.0) < 0:
        scores = [x - min(scores) for x in scores]
        scores = scores if any(scores) else [1.0] * len(scores)
    best = sorted(range(len(documents)), key=lambda i: (-scores[i], i))[:k]
    centre = {}
    for i in best:
        for t, x in s.vector(s.words(documents[i], f), f).items():
            centre[t] = centre.get(t, 0.0) + scores[i] * x
    return [_cosine(centre, s.vector(s.words(d, f), f)) for d in documents]


def lsi(s, q, f, rank=100):
    """Of all documents at once; and whether the space is unique: no two singular values are equal where it ends."""
    vectors = [s.vector(s.words(d, f), f) for d in s.documents]
    terms = sorted({t for vector in vectors for t, x in vector.items() if x > 0})
    A = np.array([[vector.get(t, 0.0) for t in terms] for vector in vectors]).reshape(len(vectors), len(terms))
    rank = min(rank, len(vectors) - 1, len(terms) - 1)
    asked = s.vector([t for t in q.content if t not in STOP], f)
    if rank < 1:
        return np.zeros(len(vectors)), True
    _, values, axes = np.linalg.svd(A)
    unique = values[rank - 1] > 1e-6 and (rank == len(values) or values[rank - 1] - values[rank] > 1e-3)
    points = A @ axes[:rank].T
    point = np.array([asked.get(t, 0.0) for t in terms]) @ axes[:rank].T
    sizes = np.linalg.norm(points, axis=1) * np.linalg.norm(point)
    unique = unique and not ((sizes > 0) & (sizes < 1e-6)).any()
    return np.divide(points @ point, sizes, out=np.zeros(len(points)), where=sizes > 1e-9), bool(unique)


def _phrases(words, a, b):
    """Matches of "a b" from left to right, without overlap."""
    if len(words) < 2:
        return 0
    if words[:2] == [a, b]:
        return 1 + _phrases(words[2:], a, b)
    return _phrases(words[1:], a, b)


def _windows(words, a, b, size):
    """The window of two different places that ends first is a match; the next one begins behind it."""
    for end in range(2, len(words) + 1):
        for start in range(max(0, end - size), end - 1):
            if sorted((words[start], words[end - 1])) == sorted((a, b)):
                return 1 + _windows(words[end:], a, b, size)
    return 0


def _dependence(s, d, f, mu, cliques):
    """Sum of ln((c + mu cf/|C|)/(|d| + mu)) over cliques: functions of the words of a document."""
    total = 0.0
    for clique in cliques:
        cf = sum(clique(s.words(other, f)) for other in s.documents)
        if cf and s.total(f):
            total += math.log((clique(s.words(d, f)) + mu * cf / s.total(f)) / (len(s.content(d, f)) + mu))
    return total


def sd_t(s, q, d, f, mu=2500.0):
    return _dependence(s, d, f, mu, [lambda words, t=t: words.count(t) for t in q.content])


def sd_o(s, q, d, f, mu=4000.0):
    pairs = list(zip(q.full, q.full[1:], strict=False))
    return _dependence(s, d, f, mu, [lambda words, p=p: _phrases(words, *p) for p in pairs])


def sd_u(s, q, d, f, mu=4000.0, window=8, pairs="adjacent"):
    words = q.content
    chosen = [(i, j) for j in range(len(words)) for i in range(j) if pairs == "all" or j == i + 1]
    cliques = [lambda text, i=i, j=j: _windows(text, words[i], words[j], window) for i, j in chosen]
    return _dependence(s, d, f, mu, cliques)


def query_terms(s, q, d, f):
    return len(q.content)


def idf_max(s, q, d, f):
    return max((s.idf(t, f) for t in q.content), default=0.0)


OF_ONE = (
    tf, log_tf, norm_tf, log_norm_tf, idf, log_idf, log_icf, tfidf, log_norm_tfidf, log_norm_tficf, length, bm25,
    log_bm25, lmir_jm, lmir_dir, lmir_abs, covered, covered_ratio, boolean, min_tf, max_tf, mean_tf, var_tf, exact,
    ngram_bm25, span, edit, cosine, query_terms, idf_max, sd_t, sd_o,
    sd_u,
)  # fmt: skip
"""Features of one document: (collection, query, document, field) → number."""
