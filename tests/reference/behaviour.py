"""Behaviour features by their definition: for each impression, a look at every event of the log.

A page is a record of a click log: query, documents, clicks (objects with at, time, dwell), time, user, count.
"""

import math

DAY = 86_400_000


def keys_of(page, document):
    """Whose events those of a document on a page are; None if the user is not known."""
    user = page.get("user")
    return {
        "everything": 0,
        "document": document,
        "query": page["query"],
        "query-document": (page["query"], document),
        "user": user,
        "user-document": None if user is None else (user, document),
    }


def events(pages):
    """(measure, time, amount, rank, keys) of all events; keys are by whom they are counted."""
    for page in pages:
        n = page.get("count", 1)
        for rank, document in enumerate(page["documents"], 1):
            keys = keys_of(page, document)
            yield "shown", page["time"], n, min(rank, 20), keys
            clicks = [click for click in page["clicks"] if click["at"] == rank]
            if not clicks:
                continue
            times = [click["time"] for click in clicks if "time" in click]
            clicked = max([page["time"], *([min(times)] if times else [])])
            yield "clicks", clicked, n, min(rank, 20), keys
            spans = [click["dwell"] for click in clicks if "dwell" in click]
            if spans:
                ms = round(1000 * sum(spans))
                yield "dwells", clicked + ms, n, min(rank, 20), keys
                yield "dwell", clicked + ms, n * ms, min(rank, 20), keys


def features(pages, wanted):
    """Rows of feature values, of the documents of each page in their order."""
    log = list(events(pages))
    return [
        [value(log, page, document, feature) for feature in wanted] for page in pages for document in page["documents"]
    ]


def value(log, page, document, feature):
    """One behaviour feature of one document of a page."""
    t, own = page["time"], keys_of(page, document)
    half_life = getattr(feature, "half_life", 0.0)

    def ages(measure, by, rank=None):
        for kind, time, amount, at, keys in log:
            age = t // DAY - time // DAY
            counts = age > 0 if kind in ("dwell", "dwells") else time < t
            if kind == measure and counts and age < feature.days and keys[by] == own[by] and rank in (None, at):
                yield age, amount

    def count(measure, by, rank=None):
        if own[by] is None:
            return math.nan
        return sum(n * (2 ** (-age / half_life) if half_life else 1) for age, n in ages(measure, by, rank))

    by, prior = feature.by, getattr(feature, "prior", 0.0)
    if feature.name in ("shown", "clicks"):
        return count(feature.name, by)
    if feature.name == "dwell":
        n = count("dwells", by)
        return count("dwell", by) / n / 1000 if n > 0 else math.nan
    if feature.name == "last":
        return math.nan if own[by] is None else min((age for age, _ in ages("clicks", by)), default=math.nan)
    if feature.name == "rate":
        c, n, every_c, every_n = (count(m, k) for k in (by, "everything") for m in ("clicks", "shown"))
        if prior == 0:
            return c / n if n > 0 else math.nan
        if math.isnan(c):
            return math.nan
        return (c + prior) / (n + prior * every_n / every_c) if every_c else 0.0
    expected = prior
    for rank in range(1, 21):
        n = count("shown", "everything", rank)
        expected += count("shown", by, rank) * count("clicks", "everything", rank) / n if n else 0.0
    if math.isnan(count("clicks", by)):
        return math.nan
    return (count("clicks", by) + prior) / expected if expected > 0 else math.nan
