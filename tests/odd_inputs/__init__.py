"""Odd inputs: what people have in place of plain lists and arrays, and what must come of each.

An odd input is made from the plain case. Either all numbers are those of the plain case, to the last bit, or podium
refuses it in words that name the thing.
"""

from odd_inputs.columns import TRUTH, columns, labels, named
from odd_inputs.frames import frames, tables
from odd_inputs.matrices import matrices
from odd_inputs.settings import (
    DOCUMENT_WEIGHTS,
    GROUPS,
    NAMES,
    ORDERS,
    PREFERENCES,
    RUNS,
    SAMPLE_WEIGHTS,
    SEEDS,
    VOTERS,
    WEIGHTS,
    WHOLE,
)

ODD = [
    *columns("y"), *labels("y"), *TRUTH,
    *columns("qid"), *named("qid"),
    *columns("scores"), *labels("scores"),
    *columns("document_ids"), *named("document_ids"),
    *matrices("X"), *frames(),
    *tables("votes", "query", "rank"), *tables("votes", "document", "rank"), *tables("votes", "voter", "rank"),
    *tables("judgments", "query", "grade"), *tables("judgments", "document", "grade"),
    *tables("judgments", "judge", "grade"),
    *tables("clicks", "query", "position"), *tables("clicks", "document", "position"),
    *tables("clicks", "page", "click"),
    *GROUPS, *WEIGHTS, *SAMPLE_WEIGHTS, *DOCUMENT_WEIGHTS, *PREFERENCES, *VOTERS,
    *SEEDS, *WHOLE, *NAMES, *RUNS, *ORDERS,
]  # fmt: skip
