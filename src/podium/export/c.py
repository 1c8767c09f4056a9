"""C: a model as one C99 file that needs only the standard library and allocates no memory."""

from __future__ import annotations

import ctypes
import functools
import re
import subprocess
import tempfile
from pathlib import Path
from shutil import which

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import ModelFileError
from podium.base.registry import register
from podium.export.base import EngineScores
from podium.export.exported_forms import ExportedForm, Net
from podium.export.program import Program, Tables
from podium.export.supported_form import Exportable
from podium.export.transforms import Kernel

_TYPES = {"i": "int", "f4": "float", "f8": "double"}


@register
class C(Program):
    """C99 source. Trees have podium's scores to the bit; networks, up to the order of summation in double."""

    name = "c"
    replay = "cc -O2 -DPODIUM_SELFTEST FILE -lm && ./a.out"
    table = re.compile(r"^static const (?:int|float|double) (\w++)\[\d++\] = \{([^}\n]*+)\};$", re.MULTILINE)

    @property
    def text(self) -> str:
        return _TEXT

    def parts(self, exportable: Exportable, columns: Tables, tests: Tables) -> dict[str, str]:
        front, within = exportable.form.front, exportable.form.within_query
        return {
            "FEATURES": str(exportable.model.n_features),
            "NAMES": "\n".join(f" *  x[{l}] {_comment(name)}" for l, name in enumerate(exportable.names)),
            "COLUMNS": _arrays(columns),
            "SINGLE": "" if within else _SINGLE,
            "MANY": "the n documents of one query" if within else "n documents, one after another",
            "WALK": "static double trees" if front else "double podium_score(const float *x);\n\ndouble podium_score",
            "VALUE": "curve(l, (double)x[l])" if front and front.curve else "(double)x[l]",
            "WIDEST": str(_widest(exportable.form)),
            "ADD": "beside(x, now);\n    " if front and len(front.added) else "",
            "MIX": "mix(now);\n    " if front and front.mixtures else "",
            "TESTS": _arrays(tests),
            "COUNT": str(len(tests["test_score"])),
        }

    def number(self, text: str) -> float:
        text = text.strip()
        if text in ("NAN", "INFINITY", "-INFINITY"):
            return float({"NAN": "nan", "INFINITY": "inf", "-INFINITY": "-inf"}[text])
        try:
            return float.fromhex(text.removesuffix("f")) if "0x" in text else float(text)
        except ValueError:
            raise ModelFileError(
                f"{text[:20]!r} is not a number of an exported C file. Export the model again."
            ) from None

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores | None:
        compiler = which("gcc") or which("cc")
        if compiler is None:
            return None
        X, out = np.ascontiguousarray(X, np.float32), np.empty(len(X))
        _library(raw, compiler).podium_scores(
            X.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(X)), out.ctypes.data_as(ctypes.c_void_p)
        )
        about = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False)
        return EngineScores(out, f"{Path(compiler).name} {about.stdout.strip()}")


@functools.lru_cache(maxsize=1)
def _library(raw: bytes, compiler: str) -> ctypes.CDLL:
    """The program, compiled and loaded; cached, since a proof runs it twice."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "model.c"), Path(folder, "model.so")
        source.write_bytes(raw)
        compilation = subprocess.run(
            [compiler, "-std=c99", "-O1", "-shared", "-fPIC", "-o", library, source, "-lm"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if compilation.returncode:
            raise ModelFileError(f"The C file does not compile: {compilation.stderr[:300]}")
        return ctypes.CDLL(str(library))


def _widest(form: ExportedForm) -> int:
    if form.front is None:
        return 0
    widths = form.widths if isinstance(form, Net) else form.front.widths
    return max(widths + [len(mixture.landmarks) for mixture in form.front.mixtures if isinstance(mixture, Kernel)])


def _comment(name: str) -> str:
    return name.replace("*/", "* /").replace("\n", " ").replace("\\", "/")


def _arrays(columns: Tables) -> str:
    return "\n".join(_array(name, column) for name, column in columns.items())


def _array(name: str, column: np.ndarray) -> str:
    kind = next(word for code, word in _TYPES.items() if column.dtype.str[1:].startswith(code))
    texts = [_text(value, kind) for value in column.tolist()] or ["0"]
    return f"static const {kind} {name}[{len(texts)}] = {{{','.join(texts)}}};"


def _text(value: float, kind: str) -> str:
    if kind == "int":
        return str(value)
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return float(value).hex() + ("f" if kind == "float" else "")


_SINGLE = " *  double podium_score(const float *x)                            one document\n"


_TEXT = """@@ head
/* A ranking model, exported by podium @VERSION@. Larger scores are better.
 *
@SINGLE@ *  void podium_scores(const float *X, size_t n, double *out)      @MANY@
 *
 * A document has @FEATURES@ features, NaN where missing.
 * Check it: cc -O2 -DPODIUM_SELFTEST this.c -lm && ./a.out
 * Never compile it with -ffast-math: comparisons with NaN matter.
 *
@NAMES@
 */
#include <math.h>
#include <stddef.h>

#define PODIUM_FEATURES @FEATURES@

@COLUMNS@

void podium_scores(const float *X, size_t n, double *out);
@@ trees

@WALK@(const float *x) {
    double sum = 0.0;
    for (size_t t = 0; t + 1 < sizeof first_leaf / sizeof *first_leaf; t++) {
        int node = first_split[t] < first_split[t + 1] ? 0 : -1;
        while (node >= 0) {
            int k = first_split[t] + node;
            float v = x[feature[k]];
            node = (isnan(v) ? nan_left[k] : v <= threshold[k]) ? left[k] : right[k];
        }
        sum += value[first_leaf[t] - 1 - node];
    }
    return sum;
}
@@ clip

static double curve(int l, double x) {
    return x < clip_low[l] ? clip_low[l] : x > clip_high[l] ? clip_high[l] : x;
}
@@ line

/* The line through (x[0], a) and (x[1], b), within a and b. The product is last: no fused operation changes a bit. */
static double line(double v, const double *x, double a, double b) {
    double slope = (b - a) / (x[1] - x[0]);
    double y = ((v - x[0]) + a / slope) * slope;
    return y < a ? a : y > b ? b : y;
}

/* The last of n - 1 rising numbers that is at most v; the first if none is. */
static int last(const double *x, int n, double v) {
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (x[middle] <= v) low = middle; else high = middle;
    }
    return low;
}
@@ share

/* The share of training values up to v. */
static double share(int l, double v) {
    const double *x = knot + first_knot[l], *a = knot_low + first_knot[l], *b = knot_high + first_knot[l];
    int n = first_knot[l + 1] - first_knot[l];
    if (n < 2) return 0.5;
    if (v < x[0]) return 0.0;
    if (v > x[n - 1]) return 1.0;
    int k = last(x, n, v);
    if (v == x[k + 1]) k++;
    return v == x[k] ? 0.5 * (a[k] + b[k]) : line(v, x + k, b[k], a[k + 1]);
}
@@ uniform

static double curve(int l, double x) { return share(l, x); }
@@ normal

/* The normal quantile of the share, from a table of its lower half. */
static double curve(int l, double x) {
    double u = share(l, x), v = u > 0.5 ? 1.0 - u : u, z;
    int n = sizeof normal_share / sizeof *normal_share, k;
    if (v < normal_share[0]) v = normal_share[0];
    k = last(normal_share, n, v);
    z = line(v, normal_share + k, normal_quantile[k], normal_quantile[k + 1]);
    return u > 0.5 ? -z : z;
}
@@ scaled

static void scaled(const float *x, const double *low, const double *times, const double *missing, double *now) {
    for (int l = 0; l < PODIUM_FEATURES; l++) {
        double v = isnan(x[l]) ? missing[l] : @VALUE@;
        now[l] = (double)(float)((v - low[l]) * times[l]);
    }
}
@@ beside

/* The features as they are, then those scaled ones that stand beside them. */
static void beside(const float *x, double *now) {
    double kept[PODIUM_FEATURES];
    for (int l = 0; l < PODIUM_FEATURES; l++) {
        kept[l] = now[l];
        now[l] = isnan(x[l]) ? filling[l] : (double)x[l];
    }
    for (size_t j = 0; j < sizeof added / sizeof *added; j++) now[PODIUM_FEATURES + j] = kept[added[j]];
}
@@ mixed

/* Adds products of two features, or makes features of the distances to landmarks: one mixture after another. */
static void mix(double *now) {
    double near[@WIDEST@];
    const int *p = pair;
    const double *v = number;
    for (size_t s = 0; s < sizeof mixture / sizeof *mixture; s += 4) {
        int n = mixture[s + 1], m = mixture[s + 2], r = mixture[s + 3];
        for (int l = 0; l < n; l++) now[l] = isnan(now[l]) ? 0.0 : now[l];
        if (!mixture[s]) {
            for (int j = 0; j < m; j++) now[n + j] = (double)(float)((now[p[j]] * now[p[m + j]] - v[j]) * v[m + j]);
            p += 2 * m;
            v += 2 * m;
            continue;
        }
        double gamma = *v++;
        for (int j = 0; j < m; j++, v += n) {
            double sum = 0.0;
            for (int l = 0; l < n; l++) sum += (now[l] - v[l]) * (now[l] - v[l]);
            near[j] = exp(-gamma * sum);
        }
        for (int j = 0; j < r; j++, v += m) {
            double sum = 0.0;
            for (int l = 0; l < m; l++) sum += near[l] * v[l];
            now[j] = (double)(float)sum;
        }
    }
}
@@ on_trees

static double document(const float *x, const double *low, const double *times, const double *missing) {
    double now[@WIDEST@];
    float v[@WIDEST@];
    scaled(x, low, times, missing, now);
    @ADD@@MIX@for (int l = 0; l < @WIDEST@; l++) v[l] = (float)now[l];
    return trees(v);
}
@@ activated

static double activated(double z) {
    switch (activation[0]) {
    case 0: return tanh(z);
    case 1: return z > 0.0 ? z : 0.0;
    case 2: return z > 0.0 ? z : expm1(z);
    case 3: return z > 0.0 ? @SELU_SCALE@ * z : @SELU_BELOW@ * expm1(z);
    case 4: return 0.5 * z * (1.0 + tanh(@GELU_SCALE@ * (z + @GELU_CUBE@ * z * z * z)));
    default: return 0.5 * z * (1.0 + tanh(0.5 * z));
    }
}
@@ layers

static double document(const float *x, const double *low, const double *times, const double *missing) {
    double now[@WIDEST@], next[@WIDEST@];
    const double *w = weight;
    size_t count = sizeof width / sizeof *width - 1;
    scaled(x, low, times, missing, now);
    @ADD@@MIX@for (size_t layer = 0; layer < count; layer++) {
        int n = width[layer], m = width[layer + 1];
        for (int j = 0; j < m; j++) {
            double sum = 0.0;
            for (int l = 0; l < n; l++) sum += now[l] * w[j * n + l];
            sum += w[m * n + j];
            next[j] = layer + 1 == count ? sum : activated(sum);
        }
        w += m * n + m;
        for (int j = 0; j < m; j++) now[j] = next[j];
    }
    return now[0];
}
@@ each

void podium_scores(const float *X, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = podium_score(X + i * PODIUM_FEATURES);
}
@@ one

double podium_score(const float *x);

double podium_score(const float *x) { return document(x, centre, scale, filling); }
@@ query

/* Each feature is scaled to [0, 1] over the documents of the query; what is missing or constant becomes 0. */
void podium_scores(const float *X, size_t n, double *out) {
    double low[PODIUM_FEATURES], times[PODIUM_FEATURES];
    for (int l = 0; l < PODIUM_FEATURES; l++) {
        float least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            float v = X[i * PODIUM_FEATURES + l];
            if (v < least) least = v;
            if (v > most) most = v;
        }
        low[l] = least <= most ? (double)least : 0.0;
        times[l] = least < most ? 1.0 / ((double)most - (double)least) : 0.0;
    }
    for (size_t i = 0; i < n; i++) out[i] = document(X + i * PODIUM_FEATURES, low, times, low);
}
@@ tail

#ifdef PODIUM_SELFTEST
#include <stdio.h>
@TESTS@
int main(void) {
    double found[@COUNT@];
    int wrong = 0;
    podium_scores(test_x, @COUNT@, found);
    for (int i = 0; i < @COUNT@; i++) wrong += !(fabs(found[i] - test_score[i]) <= test_tolerance[0]);
    printf("%d of @COUNT@ vectors score as in podium\\n", @COUNT@ - wrong);
    return wrong != 0;
}
#endif
"""
