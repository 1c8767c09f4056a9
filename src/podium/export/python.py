"""Python: a model as one Python file that needs only the standard library."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import ModelFileError
from podium.base.registry import register
from podium.export.base import EngineScores
from podium.export.program import Program, Tables
from podium.export.replay_vectors import lines
from podium.export.supported_form import Exportable

_CODES = {"i": "i", "f4": "f", "f8": "d"}


@register
class Python(Program):
    """Python 3 source. Trees have podium's scores to the bit; networks, up to the order of summation in float64."""

    name = "python"
    replay = "python FILE --selftest"
    table = re.compile(r"^([A-Z_]++) = array\(\"[ifd]\", \[([^\]\n]*+)\]\)$", re.MULTILINE)

    @property
    def text(self) -> str:
        return _TEXT

    def parts(self, exportable: Exportable, columns: Tables, tests: Tables) -> dict[str, str]:
        front = exportable.form.front
        now = "scaled(x, low, times, missing)"  # the inputs of the trees or the first layer
        now = f"beside(x, {now})" if front and len(front.added) else now
        return {
            "NAMES": json.dumps(list(exportable.names)),
            "COLUMNS": "\n".join(_array(name.upper(), column) for name, column in (columns | tests).items()),
            "MANY": " They are the documents of one query." if exportable.form.within_query else "",
            "VALUE": "curve(l, value)" if front and front.curve else "value",
            "NOW": f"mixed({now})" if front and front.mixtures else now,
        }

    def number(self, text: str) -> float:
        special = re.fullmatch(r"float\('(nan|inf|-inf)'\)", text.strip())
        try:
            return float(special[1]) if special else float(ast.literal_eval(text.strip()))
        except (ValueError, SyntaxError, TypeError):
            raise ModelFileError(
                f"{text[:20]!r} is not a number of an exported file. Export the model again."
            ) from None

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "model.py")
            source.write_bytes(raw)
            rows = "".join(lines(X, np.zeros(len(X))))
            process = subprocess.run(
                [sys.executable, "-I", source], input=rows, capture_output=True, text=True, check=False
            )
        if process.returncode:
            raise ModelFileError(f"The Python file fails: {process.stderr[-300:]}")
        scores = np.array([float(line) for line in process.stdout.split()])
        return EngineScores(scores, f"Python {'.'.join(map(str, sys.version_info[:3]))}")


def _array(name: str, column: np.ndarray) -> str:
    code = next(code for start, code in _CODES.items() if column.dtype.str[1:].startswith(start))
    texts = [repr(value) if np.isfinite(value) else f"float('{value!r}')" for value in column.tolist()]
    return f'{name} = array("{code}", [{", ".join(texts)}])'


_TEXT = '''@@ head
#!/usr/bin/env python3
"""A ranking model, exported by podium @VERSION@. Larger scores are better.

scores([[…], …]) takes features in the order of FEATURES, None or NaN where missing.
python this.py < rows.jsonl prints a score for each line: a list of features, or an object with "features".@MANY@
python this.py --selftest scores the rows at the end of this file.
"""

import bisect
import json
import math
import sys
from array import array

FEATURES = @NAMES@
@COLUMNS@
@@ plain


def score(features):
    """The score of a document."""
    x = array("f", [math.nan if value is None else value for value in features])
@@ clip


def curve(l, value):
    """The value within the bounds of its feature."""
    return min(max(value, CLIP_LOW[l]), CLIP_HIGH[l])
@@ line


def line(v, left, right, a, b):
    """The line through (left, a) and (right, b), within a and b."""
    slope = (b - a) / (right - left)
    return min(max(((v - left) + a / slope) * slope, a), b)
@@ share


def share(l, v):
    """The share of training values up to v."""
    first, last = FIRST_KNOT[l], FIRST_KNOT[l + 1] - 1
    if last <= first:
        return 0.5
    if v < KNOT[first] or v > KNOT[last]:
        return float(v > KNOT[last])
    k = bisect.bisect_right(KNOT, v, first, last + 1) - 1
    if v == KNOT[k]:
        return 0.5 * (KNOT_LOW[k] + KNOT_HIGH[k])
    return line(v, KNOT[k], KNOT[k + 1], KNOT_HIGH[k], KNOT_LOW[k + 1])
@@ uniform


def curve(l, value):
    """The share of training values up to the value."""
    return share(l, value)
@@ normal


def curve(l, value):
    """The normal quantile of the share, from a table of its lower half."""
    u = share(l, value)
    v = max(1.0 - u if u > 0.5 else u, NORMAL_SHARE[0])
    k = min(bisect.bisect_right(NORMAL_SHARE, v), len(NORMAL_SHARE) - 1) - 1
    z = line(v, *NORMAL_SHARE[k : k + 2], *NORMAL_QUANTILE[k : k + 2])
    return -z if u > 0.5 else z
@@ scaled


def scaled(x, low, times, missing):
    """(x − low)·times of each feature."""
    filled = [missing[l] if value != value else @VALUE@ for l, value in enumerate(x)]
    return array("f", [(value - low[l]) * times[l] for l, value in enumerate(filled)])
@@ beside


def beside(x, now):
    """The features as they are, then those scaled ones that stand beside them."""
    known = [FILLING[l] if value != value else value for l, value in enumerate(x)]
    return array("f", known + [now[l] for l in ADDED])
@@ mixed


def mixed(now):
    """With products of two features, or made of distances to landmarks: one mixture after another."""
    p = v = 0
    for s in range(0, len(MIXTURE), 4):
        kernel, n, m, r = MIXTURE[s : s + 4]
        now = array("f", [0.0 if value != value else value for value in now])
        if not kernel:
            pairs = zip(PAIR[p : p + m], PAIR[p + m : p + 2 * m], NUMBER[v : v + m], NUMBER[v + m : v + 2 * m])
            now.extend([(now[a] * now[b] - mean) * scale for a, b, mean, scale in pairs])
            p += 2 * m
            v += 2 * m
            continue
        gamma, near = NUMBER[v], []
        v += 1
        for _ in range(m):
            near.append(math.exp(-gamma * sum((a - b) * (a - b) for a, b in zip(now, NUMBER[v : v + n]))))
            v += n
        now = array("f")
        for _ in range(r):
            now.append(sum(a * b for a, b in zip(near, NUMBER[v : v + m])))
            v += m
    return now
@@ activated


def activated(z):
    """The activation of a unit's sum."""
    code = ACTIVATION[0]
    if code == 0:
        return math.tanh(z)
    if code == 1:
        return max(z, 0.0)
    if code == 2:
        return z if z > 0.0 else math.expm1(z)
    if code == 3:
        return @SELU_SCALE@ * z if z > 0.0 else @SELU_BELOW@ * math.expm1(z)
    if code == 4:
        return 0.5 * z * (1.0 + math.tanh(@GELU_SCALE@ * (z + @GELU_CUBE@ * z * z * z)))
    return 0.5 * z * (1.0 + math.tanh(0.5 * z))
@@ document


def document(x, low, times, missing):
    """The score of a document whose features are scaled by (x − low)·times."""
    x = @NOW@
@@ trees
    total = 0.0
    for t in range(len(FIRST_LEAF) - 1):
        first = FIRST_SPLIT[t]
        node = 0 if first < FIRST_SPLIT[t + 1] else -1
        while node >= 0:
            k = first + node
            value = x[FEATURE[k]]
            goes_left = NAN_LEFT[k] if value != value else value <= THRESHOLD[k]
            node = LEFT[k] if goes_left else RIGHT[k]
        total += VALUE[FIRST_LEAF[t] - 1 - node]
    return total
@@ layers
    at, count = 0, len(WIDTH) - 1
    for layer in range(count):
        n, m = WIDTH[layer], WIDTH[layer + 1]
        rows = [WEIGHT[at + j * n : at + j * n + n] for j in range(m)]
        sums = [sum(a * b for a, b in zip(x, row)) + WEIGHT[at + m * n + j] for j, row in enumerate(rows)]
        if layer + 1 < count:
            sums = [activated(value) for value in sums]
        x = sums
        at += m * n + m
    return x[0]
@@ one


def score(features):
    """The score of a document."""
    x = array("f", [math.nan if value is None else value for value in features])
    return document(x, CENTRE, SCALE, FILLING)
@@ each


def scores(documents):
    """The score of each document."""
    return [score(features) for features in documents]
@@ query


def scores(documents):
    """The score of each document of one query, over which each feature is scaled to [0, 1]."""
    rows = [array("f", [math.nan if value is None else value for value in features]) for features in documents]
    low, times = [], []
    for l in range(len(FEATURES)):
        known = [row[l] for row in rows if row[l] == row[l]]
        least, most = min(known, default=0.0), max(known, default=0.0)
        low.append(least)
        times.append(1.0 / (most - least) if least < most else 0.0)
    return [document(row, low, times, low) for row in rows]
@@ tail


def selftest():
    """The number of rows at the end of the tables that do not score as in podium."""
    d = len(FEATURES)
    rows = [TEST_X[i * d : i * d + d] for i in range(len(TEST_SCORE))]
    wrong = sum(not abs(found - want) <= TEST_TOLERANCE[0] for found, want in zip(scores(rows), TEST_SCORE))
    print(f"{len(rows) - wrong} of {len(rows)} vectors score as in podium")
    return wrong


if __name__ == "__main__":
    if "--selftest" in sys.argv[1:]:
        sys.exit(selftest() > 0)
    given = [json.loads(line) for line in sys.stdin if line.strip()]
    for found in scores([row["features"] if isinstance(row, dict) else row for row in given]):
        print(repr(found))
'''
