"""Behaviour features by their definition: for each impression, a look at every event of the log.

A page is a record of a click log: query, documents, clicks (objects with at, time, dwell), time, user, count. What is
stored of documents is a dict of dicts.
"""

import math
import statistics
from datetime import UTC, datetime, timedelta

from podium.clicks.behaviour.stored_values import value_key

DAY = 86_400_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def keys_of(page, document, stored):
    """Whose events those of a document on a page are; None if the user, or the stored value, is not known."""
    user = page.get("user")
    fields = stored.get(document, {})
    return {
        "everything": 0,
        "document": document,
        "query": page["query"],
        "query-document": (page["query"], document),
        "user": user,
        "user-document": None if user is None else (user, document),
        **{f"field:{name}": value_key(value) for name, value in fields.items()},
    }


def events(pages, stored):
    """(measure, time, amount, rank, keys) of all events; keys are by whom they are counted."""
    for page in pages:
        n = page.get("count", 1)
        for rank, document in enumerate(page["documents"], 1):
            keys = keys_of(page, document, stored)
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


def features(pages, wanted, stored=None):
    """Rows of feature values, of the documents of each page in their order."""
    log = list(events(pages, stored or {}))
    return [
        [value(log, page, document, feature, stored or {}) for feature in wanted]
        for page in pages
        for document in page["documents"]
    ]


def share(log, page, document, feature, stored):
    """Share of the user's last clicks with the document's value."""
    own, clicks = stored.get(document, {}).get(feature.field), []
    for kind, time, amount, _, keys in log:
        key = keys.get(f"field:{feature.field}")
        recent = time < page["time"] and page["time"] // DAY - time // DAY < feature.days
        if kind == "clicks" and recent and keys["user"] == page.get("user") and key is not None:
            clicks += [(time, key)] * min(amount, feature.clicks)
    last = [key for _, key in sorted(clicks)[-feature.clicks :]]
    missing = page.get("user") is None or own is None or not last
    return math.nan if missing else last.count(value_key(own)) / len(last)


def compared(page, document, field, stored):
    """A stored number less the median of the page, as a share of the median."""
    numbers = {id: stored[id][field] for id in page["documents"] if stored.get(id, {}).get(field) is not None}
    if document not in numbers:
        return math.nan
    x, m = numbers[document], statistics.median(numbers.values())
    return 0.0 if x == m else (x - m) / abs(m) if m else math.nan


def value(log, page, document, feature, stored):
    """One behaviour feature of one document of a page."""
    moment = EPOCH + timedelta(milliseconds=page["time"])
    if feature.name == "hour":
        return (moment - moment.replace(hour=0, minute=0, second=0, microsecond=0)) / timedelta(hours=1)
    if feature.name == "age":
        date = stored.get(document, {}).get(feature.field)
        return math.nan if date is None else (moment - datetime.fromisoformat(date)) / timedelta(days=1)
    if feature.name == "from_median":
        return compared(page, document, feature.field, stored)
    if feature.name == "seen":
        return share(log, page, document, feature, stored)
    t, own = page["time"], keys_of(page, document, stored)
    half_life = getattr(feature, "half_life", 0.0)

    def ages(measure, by, rank=None):
        for kind, time, amount, at, keys in log:
            age = t // DAY - time // DAY
            counts = age > 0 if kind in ("dwell", "dwells") else time < t
            if kind == measure and counts and age < feature.days and keys.get(by) == own[by] and rank in (None, at):
                yield age, amount

    def count(measure, by, rank=None):
        if own[by] is None:
            return math.nan
        return sum(n * (2 ** (-age / half_life) if half_life else 1) for age, n in ages(measure, by, rank))

    by, prior = feature.by, getattr(feature, "prior", 0.0)
    own.setdefault(by, None)
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
        if not every_c:
            return 0.0
        return (c + prior) / (n + prior * every_n / every_c) if n or every_n else math.nan
    expected = prior
    for rank in range(1, 21):
        n = count("shown", "everything", rank)
        expected += count("shown", by, rank) * count("clicks", "everything", rank) / n if n else 0.0
    if math.isnan(count("clicks", by)):
        return math.nan
    return (count("clicks", by) + prior) / expected if expected > 0 else math.nan
