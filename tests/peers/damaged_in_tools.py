"""Damaged files of other tools that podium reads: the tool itself scores them alike, or does not read them.

    python tests/peers/damaged_in_tools.py 20000 [FIRST]

Every file that podium accepts goes to the tool that it is of (RankLib's rules for RankLib) in a process that may crash.
It prints counts by format, and the files that the tool scores otherwise; the exit code is 1 if there are any.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from podium.base.errors import PodiumError
from podium.imports import import_model
from reference.engines import ENGINES
from reference.foreign import damaged, files

MOST = 6  # features
TOLERANCE = 1e-5  # sums in float32, of scores about 1


def rows(name, n_features):
    """Rows with zeros and, where tool and podium take them, gaps."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, MOST)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] = 0
    X = X[:, :n_features]
    return np.nan_to_num(X) if name.startswith("catboost") or "linear" in name else X


def undamaged(name):
    """A file of the format that its tool reads: of UBJSON, its own."""
    if "ubj" not in name:
        return files()[name]
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(files()["xgboost"]))
    return bytes(booster.save_raw("ubj"))


def scores(name, path, X):
    """What the tool makes of a file."""
    if name == "lightgbm":
        import lightgbm

        return lightgbm.Booster(model_file=path).predict(X, raw_score=True, num_threads=1)
    if name.startswith("xgboost"):
        import xgboost

        booster = xgboost.Booster({"nthread": 1}, model_file=path)
        names, kinds = booster.feature_names, booster.feature_types
        data = xgboost.DMatrix(X, feature_names=names, feature_types=kinds, nthread=1)
        return booster.predict(data, output_margin=True)
    if name.startswith("catboost"):
        import catboost

        model = catboost.CatBoost()
        model.load_model(path, format="json")
        return model.predict(catboost.Pool(X), prediction_type="RawFormulaVal", thread_count=1)
    raw, names = Path(path).read_bytes(), [str(l) for l in range(X.shape[1])]
    return [ENGINES["ranklib"](raw, dict(zip(names, row, strict=True))) for row in X]


def answer(name, paths):
    """A line for each path: the scores, or why there are none. Each is read in a process of its own."""
    with suppress(ImportError):
        import_module(name.partition(" ")[0])  # once for all of them
    for path, n_features in paths:
        child = os.fork()
        if child:
            if os.waitpid(child, 0)[1]:
                print("\n" + json.dumps([path, "crash"]), flush=True)
            continue
        signal.alarm(20)
        try:
            found = np.asarray(scores(name, path, rows(name, n_features)), float).tolist()
        except Exception as error:
            found = f"{type(error).__name__}: {str(error)[:200]}"
        print("\n" + json.dumps([path, found]), flush=True)
        os._exit(0)


def asked(name, paths):
    """The answers of the tool by path."""
    command = [sys.executable, __file__, "--answer", name]
    done = subprocess.run(command, input=json.dumps(paths).encode(), capture_output=True, check=True)
    return dict(json.loads(line) for line in done.stdout.split(b"\n") if line.startswith(b'["/'))


def compare(name, numbers, folder):
    """The outcomes of damaged files of a format, and what differs in words."""
    counts, differing, accepted, whole = collections.Counter(), [], {}, undamaged(name)
    for number in numbers:
        raw = damaged(whole, np.random.default_rng(number))
        try:
            model = import_model(raw, format=name.partition(" ")[0])
        except PodiumError:
            counts["refused by podium"] += 1
            continue
        if model.n_features > MOST:
            counts["more features"] += 1
            continue
        path = Path(folder, f"{number}.{'ubj' if 'ubj' in name else 'json'}")
        path.write_bytes(raw)
        accepted[str(path)] = (model, model.n_features)
    found = asked(name, [(path, n) for path, (_, n) in accepted.items()])
    for path, (model, n) in accepted.items():
        theirs, ours = found[path], model.score(rows(name, n))
        if isinstance(theirs, str):
            counts["crash of the tool" if theirs == "crash" else "refused by the tool"] += 1
        elif len(theirs) == len(ours) and np.allclose(theirs, ours, rtol=TOLERANCE, atol=TOLERANCE):
            counts["the same"] += 1
        else:
            counts["DIFFERS"] += 1
            differing.append(f"{name}, number {Path(path).stem}: {theirs[:3]} where podium has {ours[:3].tolist()}")
    return counts, differing


if __name__ == "__main__":
    if sys.argv[1] == "--answer":
        answer(sys.argv[2], json.load(sys.stdin))
        sys.exit()
    first, names, wrong = int(sys.argv[2]) if len(sys.argv) > 2 else 0, list(files()), []
    for place, chosen in enumerate(names):
        mine = [number for number in range(first, first + int(sys.argv[1])) if number % len(names) == place]
        with tempfile.TemporaryDirectory() as made:
            outcomes, differ = compare(chosen, mine, made)
        print(
            f"{chosen}: {len(mine)} files;",
            ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())),
            flush=True,
        )
        wrong += differ
    print(*wrong, f"{len(wrong)} differ", sep="\n")
    sys.exit(bool(wrong))
