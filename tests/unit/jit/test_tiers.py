"""Small work as plain Python and numpy: the same results as machine code, and when each of them runs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.base.threads import BLOCK, map_blocks
from podium.data import Dataset
from podium.formats import read_letor, read_qrels, read_run
from podium.jit import tiers
from podium.jit.compiled import compiled, is_interpreted
from podium.jit.sorting import any_ties, break_ties, order, order_all
from podium.metrics import Metric, evaluate_all
from podium.metrics.gains import survey
from podium.parsing.ids import Ids, id_keys, lines
from podium.scorers import Linear
from podium.scorers.trees.forest import EXACT, NAN, NEVER, ZERO, Forest
from podium.scorers.trees.quickscorer import lay_out
from podium.text.index.index import Index
from podium.transforms import ZScore
from podium.transforms.zscore import _scale


@pytest.fixture(autouse=True)
def small_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide by size, as in a new process."""
    monkeypatch.setattr(tiers._counter, "always", False)
    monkeypatch.setattr(tiers._counter, "spent", 0)


def both(work: Callable[[], Any]) -> tuple[Any, Any]:
    """Result or error of small work, and of the same in machine code."""
    with tiers.machine_code():
        compiled_result = _result(work)
    before = tiers._counter.spent
    plain_result = _result(work)
    assert tiers._counter.spent > before, "small work was not taken for small"
    return plain_result, compiled_result


def _result(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except DataError as error:
        return str(error)


def columns(table: Any) -> Any:
    """What was read, as lists."""
    if isinstance(table, str):
        return table
    table = table.grouped() if hasattr(table, "grouped") else table
    names = ("features", "labels", "offsets", "query_ids", "document_ids", "comments", "scores", "values", "tag")
    parts = {name: getattr(table, name, None) for name in names}
    return {name: part if isinstance(part, str | None) else np.asarray(part).tolist() for name, part in parts.items()}


LETOR = [
    b"2 qid:7 1:0.5 3:1 #docid = a\n0 qid:7 2:4 #docid = b\n",
    b"\xef\xbb\xbf2 qid:7 1:0.5 2:1e-3\r\n\r\n# all comment\r\n-1.5 qid:8 1:+.5 2:7.\r\n1 qid:7 2:3",
    b"1 qid:a 3:1 1:2\n0 qid:a 1:nan 2:NULL\n2 qid:b\n0 qid:b 1:3.4028235e38 2:1e-50 # x\n",
    b"1 1:2\n0 1:3\n",
    b"1 qid:1 01:2 1048576:3\n",
    b"0 qid:1 1:12345678901234567890.5 2:0.1234567890123456789\n1 qid:1 1:-0\n",
    b"1 qid:1 1:2 1:3\n",
    b"1 qid:1 0:2\n",
    b"1 qid:1 1:2\n1 qid:1 1:1_0\n",
    b"1 qid:1 1:2\n1 qid:1 1:2:3\n",
    b"1 qid:1 1:2\n1 qid: 1:2\n",
    b"1 qid:1 1:2\n1 1:2\n",
    b"1 qid:1 1:2\nx qid:1 1:2\n",
    b"1 qid:1 1:2\n1e999 qid:1 1:2\n",
    b"1 qid:1 1:2\n1 qid:1 1:1e39\n",
    b"1 qid:1 1:2\n1 qid:1 +1:2\n",
    b"1 qid:1 1:2\n1 qid:1 1048577:2\n",
    b"\n# nothing\n",
]


@pytest.mark.parametrize("text", LETOR)
def test_letor_lines_are_read_alike(text: bytes) -> None:
    plain, machine = both(lambda: read_letor(io.BytesIO(text)))
    np.testing.assert_equal(columns(plain), columns(machine))


TREC = [
    b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\nq1 0 d3 1\n",
    b"# a comment\n\nq1 0 d1 2\r\n\r\nq1\t0  d2 -1\n q1 0 \xff\xe9 1e0",
    b"q1 0 d1 2\nq1 0 d1 1\n",
    b"q1 0 d1 2\nq1 0 d2\n",
    b"q1 0 d1 2\nq1 0 d2 1 1\n",
    b"q1 0 d1 2\nq1 0 d2 nan\n",
    b"q1 0 d1 2\nq1 0 d2 x\n",
    b"q1 0 d1 2\nq2 0 d1 1_0\n",
    b"",
]


@pytest.mark.parametrize("text", TREC)
def test_qrels_are_read_alike(text: bytes) -> None:
    plain, machine = both(lambda: read_qrels(io.BytesIO(text + b" " * (not text))))
    assert columns(plain) == columns(machine)


@pytest.mark.parametrize(
    "text", [b"q Q0 d1 1 0.5 t more\nq Q0 d2 2 1e-3 u\nr Q0 d1 1 -7 v\n", b"q Q0 d1 1 .5 t\nq 1\n"]
)
def test_runs_are_read_alike(text: bytes) -> None:
    plain, machine = both(lambda: read_run(io.BytesIO(text)))
    assert columns(plain) == columns(machine)


def test_ids_are_numbered_found_ranked_and_written_alike() -> None:
    ids, others = Ids.of(["b", "a", "b", "é", "a" * 20, "a"]), Ids.of(["a", "b", "x", "a", "a" * 20])
    offsets, other_offsets = np.array([0, 3, 6]), np.array([0, 3, 5])
    for work in (
        lambda: [part.tolist() for part in ids.codes()],
        lambda: ids.ranks().tolist(),
        lambda: ids.repeats(offsets).tolist(),
        lambda: ids.find_in(others, other_offsets, offsets).tolist(),
        lambda: lines([ids, ids[::-1]]),
        lambda: [ids.first_unwritable(), Ids.of(["a", "b c"]).first_unwritable(), Ids.of([""]).first_unwritable()],
    ):
        plain, machine = both(work)
        assert plain == machine


def test_scores_are_sorted_alike() -> None:
    rng = np.random.default_rng(0)
    scores = np.append(rng.integers(-3, 3, 40), [np.inf, -np.inf, 0.0, -0.0, 5e-324]).astype(float)
    offsets, keys, ids = np.array([0, 0, 17, 18, 45]), rng.normal(size=45), Ids.of(rng.permutation(45))

    def work() -> list[Any]:
        best_first, ends = order_all(scores, offsets)
        broken = break_ties(best_first, ends, offsets=offsets, keys=keys)
        by_id = id_keys(ids, best_first, ends, offsets=offsets)
        ties = any_ties(ends, offsets), any_ties(np.ones(2, np.int64), np.arange(3))
        return [order(scores).tolist(), best_first.tolist(), ends.tolist(), broken.tolist(), by_id.tolist(), ties]

    plain, machine = both(work)
    assert plain == machine


def test_metrics_agree() -> None:
    rng = np.random.default_rng(1)
    n, offsets = 60, np.array([0, 20, 21, 60])
    scores, labels = rng.integers(0, 12, n).astype(float), rng.integers(0, 4, n).astype(float)
    unjudged = rng.random(n) < 0.2
    labels[unjudged] = 0.0
    judged = np.concatenate([labels[~unjudged], [3.0, 1.0]])
    cuts = np.append(np.append(0, np.cumsum(~unjudged))[offsets[:-1]], len(judged))
    metrics = [Metric.parse(name) for name, metric in sorted(Metric.catalogue().items()) if not metric.reads_topics]
    metrics += [
        Metric.parse(f"{name}[ties={ties}]") for name in ("ndcg@5", "map") for ties in ("input", "best", "worst")
    ]
    plain, machine = both(
        lambda: evaluate_all(metrics, scores, labels, offsets, judged=judged, judged_offsets=cuts, unjudged=unjudged)
    )
    np.testing.assert_allclose(plain, machine, rtol=1e-12)


@pytest.mark.parametrize("labels", [[0.0, 3.0], [-1.0, 2.5], [0.0, np.nan], [np.inf, 1.0]])
def test_labels_are_surveyed_alike(labels: list[float]) -> None:
    few = np.array(labels)
    np.testing.assert_equal(survey(few), survey(np.tile(few, tiers.LIMIT)))


def random_forest(rng: np.random.Generator, leaves: int, trees: int) -> Forest:
    """Trees whose splits are chains to the left or right, over five features with every treatment of missing values."""
    splits = leaves - 1
    chain = np.array([k + 1 for k in range(splits - 1)] + [-1 - splits], np.int32)
    leaf, swap = -1 - np.arange(splits, dtype=np.int32), rng.random(splits) < 0.5
    size = trees * splits
    return Forest(
        n_features=5,
        first_split=np.arange(trees + 1) * splits,
        first_leaf=np.arange(trees + 1) * leaves,
        feature=rng.integers(0, 5, size).astype(np.int32),
        threshold=rng.normal(size=size).astype(np.float32).astype(np.float64),
        left=np.tile(np.where(swap, leaf, chain), trees),
        right=np.tile(np.where(swap, chain, leaf), trees),
        missing=rng.choice([NEVER, ZERO, NAN, EXACT], size).astype(np.uint8),
        missing_left=rng.random(size) < 0.5,
        values=rng.normal(size=trees * leaves),
    )


@pytest.mark.parametrize("leaves", [1, 2, 31, 64, 70])
def test_forests_score_to_the_same_bits(leaves: int) -> None:
    rng = np.random.default_rng(leaves)
    forest = lay_out(random_forest(rng, leaves, 7))
    X = rng.choice([np.nan, 0.0, 1e-36, -1e-36, -0.7, 0.3, 2.0], (75, 5)).astype(np.float32)
    plain, machine = both(lambda: forest(X))
    assert plain.tolist() == machine.tolist()


def test_linear_scores_agree_and_z_scores_have_the_same_bits() -> None:
    rng = np.random.default_rng(2)
    X, theta = rng.normal(size=(50, 46)).astype(np.float32), rng.normal(size=47)
    plain, machine = both(lambda: Linear().score_rows(theta, X))
    np.testing.assert_allclose(plain, machine, rtol=1e-12, atol=1e-13)
    X[::3, ::2] = np.nan
    data, out = Dataset(X, None, np.array([0, 50])), np.empty_like(X)
    state = ZScore().fit(data)
    _scale(X, state["mean"], state["centre"], state["scale"], out)
    assert ZScore().features(state, data).tobytes() == out.tobytes()


@pytest.mark.parametrize("by", ["bm25", "ql"])
def test_a_search_finds_the_same(by: str, tmp_path: Path) -> None:
    words = [f"word{k % 7} word{k % 5} word{k % 3} text" for k in range(80)]
    documents = [{"id": str(k), "text": text * (1 + k % 4)} for k, text in enumerate(words)]
    index = Index.create(tmp_path / "my.index", documents)
    plain, machine = both(lambda: index.search("word1 word2 text", k=9, by=by))
    index.close()
    assert plain.ids == machine.ids
    np.testing.assert_allclose(plain.scores, machine.scores, rtol=1e-12)


def test_large_work_and_its_parts_use_machine_code() -> None:
    assert tiers.is_small(tiers.LIMIT)
    assert not tiers.is_small(tiers.LIMIT + 1)
    with tiers.tier(tiers.LIMIT + 1) as plain:
        assert not plain
        assert not tiers.is_small(1)
    with tiers.tier(1) as plain:
        assert plain
        assert tiers.is_small(tiers.LIMIT + 1)
    with tiers.tier(1), tiers.machine_code():
        assert not tiers.is_small(1)


def test_numpy_does_a_little_within_machine_code_unless_it_is_repeated() -> None:
    with tiers.machine_code():
        assert tiers.is_few(1)
        with tiers.machine_code(repeated=True):
            assert not tiers.is_few(1)
            with tiers.machine_code():
                assert not tiers.is_few(1)
        assert tiers.is_few(1)
        assert not tiers.is_few(tiers.LIMIT + 1)
    with tiers.tier(1):
        assert tiers.is_few(tiers.LIMIT + 1)


def test_much_small_work_is_compiled_at_last() -> None:
    small = [tiers.is_small(tiers.LIMIT) for _ in range(2 * tiers.BUDGET // tiers.LIMIT)]
    assert small == sorted(small, reverse=True)
    assert small.count(True) == tiers.BUDGET // tiers.LIMIT


@pytest.mark.skipif(is_interpreted(), reason="nothing is compiled")
def test_kernels_of_small_work_are_not_compiled_not_even_on_other_threads() -> None:
    @compiled
    def double(x: float) -> float:
        return 2.0 * x

    with tiers.tier(1):
        assert map_blocks(lambda a, b: double(a + 0.5), 2 * BLOCK) == [1.0, 2.0 * BLOCK + 1.0]
    assert vars(double)["_target"] is None
    assert double(4.0) == 8.0
    assert vars(double)["_target"] is not None


def test_the_variable_that_compiles_everything_is_always_or_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, small in (("always", False), ("auto", True)):
        monkeypatch.setattr(tiers._counter, "always", None)
        monkeypatch.setenv("PODIUM_COMPILE", text)
        assert tiers.is_small(1) == small
    monkeypatch.setattr(tiers._counter, "always", None)
    monkeypatch.setenv("PODIUM_COMPILE", "never")
    with pytest.raises(ParameterError, match="must be always or auto; got 'never'"):
        tiers.is_small(1)


COMMANDS = """
import sys
import numpy as np
import podium
qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 0.5, "c": 0.2, "d": 0.2}}
data = podium.Dataset.from_arrays([[1.0, 2.0], [3.0, 1.0]], [0, 1], qid=["a", "a"])
values = podium.evaluate_run(qrels, run, ["ndcg@10[trec]", "map", "err@10"]).values.tolist()
podium.evaluate(data, [0.1, 0.2])
assert "numba" not in sys.modules
print(values)
"""


def test_small_work_does_not_import_numba_and_gives_the_same_bits_each_time() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PODIUM_COMPILE"}
    runs = [
        subprocess.run([sys.executable, "-c", COMMANDS], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout


@pytest.mark.parametrize("rows", [1, 3, 5, 17, 130])
def test_equal_rows_have_equal_scores_of_a_linear_model_in_both_tiers(rows: int) -> None:
    """A BLAS product treats the last rows of a matrix in another way."""
    rng = np.random.default_rng(rows)
    weights, row = rng.normal(size=46), rng.normal(size=46).astype(np.float32)
    plain, machine = both(lambda: Linear().score({"theta": np.append(weights, 0.5)}, of_rows(np.tile(row, (rows, 1)))))
    assert len(set(plain.tolist())) == len(set(machine.tolist())) == 1
    np.testing.assert_allclose(plain, machine, rtol=1e-12)


def of_rows(X: np.ndarray) -> Dataset:
    return Dataset(X, None, np.array([0, len(X)]))
