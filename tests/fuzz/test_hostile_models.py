"""Model files whose arrays are not those that training wrote: refused in words, or scored by numbers.

Bits that flip are noticed by checksums. Here the file is whole, and its content is odd: arrays of other shapes, types
and numbers, absent, exchanged, and members whose descriptions say something else. Many more of them:

    python tests/fuzz/test_hostile_models.py 10000 [FIRST]
"""

import dataclasses
import faulthandler
import functools
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import podium
from fuzz.json_mutations import mutated_value
from podium.base.errors import PodiumError
from podium.data.triples import Triples

pytestmark = pytest.mark.slow

SECONDS = 2.0
METHODS = [
    "bagged(of=regression,members=2)",
    "blended(members=[regression,single-feature],of=regression)",
    "auto(trees=[lambdamart(num_leaves=3,rounds=2)])",
    "nested(of=regression,keep=[0.5])",
    "nearest(of=regression,k=4)",
    "per-class(of=regression,by=market)",
    "self-trained(of=regression)",
    "regression(transform=shared(by=market))",
    "regression(transform=neighbours)",
    "regression(transform=quantile)",
    "listnet(scorer=attention(blocks=1),epochs=1)",
    "shrunk(towards=1)",
    "c-crf",
]


@functools.cache
def data():
    made, _ = podium.make_letor_like(24, (11, 14), n_features=4, seed=1)
    features = np.array([[k % 2, k / 24] for k in range(made.n_queries)])
    links = [[[0.0, 1.0, 1.0], [1.0, 2.0, 0.5]]] * made.n_queries
    return dataclasses.replace(
        made, query_features=features, query_feature_names=("market", "size"), relations=Triples.from_rows(links)
    )


@functools.cache
def trained(method):
    return podium.train(data(), method, valid=data().select(np.arange(6)))


def odd_array(array, rng):
    """An array of another shape, type, or with other numbers."""
    flat = np.array(array, copy=True).reshape(-1)
    match rng.integers(0, 8):
        case 0:
            return flat[: rng.integers(0, len(flat) + 1)]
        case 1:
            return np.concatenate([flat, flat])
        case 2:
            return array[None]
        case 3:
            return array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?"]))
        case 4:
            return np.zeros_like(array)
        case 5:
            return array[::-1].copy() if array.ndim else array
        case _:
            value = rng.choice([np.nan, np.inf, -np.inf, -1, 2**31 - 1, -(2**31), 1e308, 255])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                flat[rng.integers(0, len(flat), size=1) if len(flat) else []] = np.array(value).astype(flat.dtype)
            return flat.reshape(array.shape)


def mutated(model, rng):
    """The model with one or two odd arrays."""
    groups = {"params": dict(model.params), "state": dict(model.state)}
    for _ in range(rng.integers(1, 3)):
        arrays = groups[rng.choice([name for name in groups if groups[name]])]
        names = sorted(arrays)
        name = names[rng.integers(0, len(names))]
        if name.endswith("head") and rng.random() < 0.8:
            head = [json.loads(model.params[name].tobytes())]
            mutated_value(head, rng)
            arrays[name] = np.frombuffer(json.dumps(head[0] if head else None).encode(), np.uint8)
            continue
        match rng.integers(0, 5):
            case 0 if len(arrays) > 1:
                del arrays[name]
            case 1:
                arrays[name] = arrays[names[rng.integers(0, len(names))]]
            case _:
                arrays[name] = odd_array(arrays[name], rng)
    return dataclasses.replace(model, **groups)


def outcome(method, rng):
    """Whether a file was refused or scored; an error if it was neither, or took long."""
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "m.podium"
        mutated(trained(method), rng).save(path)
        try:
            scores = podium.load(path).score(data())
        except PodiumError as error:
            return "refused" if len(str(error)) < 10_000 else f"an error of {len(str(error))} characters"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if time.process_time() - start > SECONDS:
        return f"took {time.process_time() - start:.1f} s"
    return "scored" if scores.shape == (data().n_documents,) and np.isfinite(scores).all() else f"scores {scores}"


@pytest.mark.parametrize("method", METHODS)
def test_odd_arrays_are_refused_in_words_or_scored(method):
    assert np.isfinite(trained(method).score(data())).all()
    for number in range(40):
        assert outcome(method, np.random.default_rng(number)) in ("refused", "scored"), number


def main(count, first):
    """Try `count` files. Prints how many were refused, and those that were neither refused nor scored."""
    counts = Counter()
    for number in range(first, first + count):
        method = METHODS[number % len(METHODS)]
        faulthandler.dump_traceback_later(30, exit=True)
        said = outcome(method, np.random.default_rng(number))
        counts[said if said in ("refused", "scored") else "neither"] += 1
        if said not in ("refused", "scored"):
            print(number, method, said[:300], flush=True)
    print(dict(counts))
    return int(counts["neither"] > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
