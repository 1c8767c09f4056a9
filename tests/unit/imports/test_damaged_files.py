"""Files of strangers: whatever is in them, a model that works comes out, or an error of podium's.

More of them: python tests/unit/imports/test_damaged_files.py 25000. What their tools say of those that are read:
tests/peers/damaged_in_tools.py.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from podium.base.errors import PodiumError
from podium.imports import import_model
from podium.scorers.trees import lightgbm_text
from reference.foreign import damaged, files

FORMATS = ["lightgbm", "xgboost", "xgboost ubj", "catboost symmetric", "catboost free", "ranklib", "ranklib linear"]
ROWS = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)


def outcome(raw, name):
    """Whether a file was read; what was read scores finitely, and holds trees that LightGBM's reader may see."""
    try:
        model = import_model(raw, format=name.partition(" ")[0])
    except PodiumError:
        return False
    if model.n_features <= ROWS.shape[1]:
        X = ROWS[:, : model.n_features]
        assert np.isfinite(model.score(X)).all()
        assert model.score(X).tobytes() == model.score(X).tobytes()
    if "trees" in model.params:
        lightgbm_text.check(model.params["trees"].tobytes(), model.n_features)
    return True


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(name):
    raw, rng = files()[name], np.random.default_rng(7)
    assert outcome(raw, name)
    found = [outcome(damaged(raw, rng), name) for _ in range(60)]
    assert 0 < sum(found) < len(found), "some are harmless, some are not"


@pytest.mark.parametrize("name", [name for name in FORMATS if "ubj" not in name])
def test_a_number_beyond_all_others_is_read_or_refused_wherever_it_stands(name):
    raw = files()[name]
    places = [match.span() for match in re.finditer(rb"-?\d+(\.\d+)?(e[+-]?\d+)?", raw)]
    for start, end in places[:: max(1, len(places) // 100)]:
        for number in (b"9" * 400, b"-1e999"):
            outcome(raw[:start] + number + raw[end:], name)


@pytest.mark.parametrize("raw", [
    b"", b"{", b"{}", b"[" * 100_000, b'{"a":' * 50_000, b"tree\n", b"## LambdaMART\n", b"## LambdaMART\n<ensemble>",
    b'## LambdaMART\n<!DOCTYPE x [<!ENTITY a "b">]><ensemble>&a;</ensemble>', b"{" + b"i\x01a{" * 5_000,
    b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", b"## Coordinate Ascent\n99999999999:1", b"\x80\x04pickle",
    b"## LambdaMART\n<ensemble>" + b"<split>" * 50_000,
])  # fmt: skip
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost", "ranklib", None])
def test_a_bomb_is_refused(name, raw):
    with pytest.raises(PodiumError):
        import_model(raw, format=name)


if __name__ == "__main__":
    counts, longest = {}, 0.0
    for number in range(int(sys.argv[1])):
        generator = np.random.default_rng(number)
        chosen = list(files())[number % len(files())]
        start = time.perf_counter()
        read = outcome(damaged(files()[chosen], generator), chosen)
        longest = max(longest, time.perf_counter() - start)
        counts[chosen, read] = counts.get((chosen, read), 0) + 1
    print(sum(counts.values()), "files; longest", round(longest, 3), "s;", counts)
