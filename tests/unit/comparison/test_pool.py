"""Tasks on several processes: the same bits as on one, and nothing lost where one fails, dies or is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from podium.base.errors import ComparisonError, ParameterError
from podium.comparison import TaskEvent, compare
from podium.comparison.plan import Task
from podium.comparison.pool import Worker
from podium.data import Dataset, Fold, make_letor_like, split
from podium.evaluation.compare import Comparison
from podium.evaluation.evaluate import evaluate
from podium.formats import write_letor
from programs import LONG, PODIUM

pytestmark = pytest.mark.slow

METHODS = ["regression", "lambdamart(num_leaves=4,rounds=5)", "listnet(scorer=mlp(hidden=[4]),epochs=3)"]
BROKEN = "listnet(transform=identity)"


def folds(n: int = 2) -> list[Fold]:
    made = [split(make_letor_like(20, (4, 8), n_features=5, seed=k)[0]) for k in range(n)]
    return [Fold(*parts, name=f"Fold{k + 1}") for k, parts in enumerate(made)]


def with_gaps() -> list[Fold]:
    """Folds with missing values, which `BROKEN` cannot take."""

    def gaps(data: Dataset) -> Dataset:
        X = np.array(data.features)
        X[::3, 1] = np.nan
        return replace(data, features=X)

    return [Fold(*(gaps(part) for part in (f.train, f.valid, f.test) if part), name=f.name) for f in folds()]


def test_the_number_of_jobs_changes_no_bit(tmp_path: Path) -> None:
    seen: list[TaskEvent] = []
    for jobs in (1, 2):
        compare(folds(), METHODS, ["ndcg@5", "map"], output=tmp_path / str(jobs), jobs=jobs, observer=seen.append)
    for name in (
        "results.json",
        "per_query.tsv",
        *(f"models/{file.name}" for file in (tmp_path / "1/models").iterdir()),
    ):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    tasks = [f"Fold{k} {name}" for k in (1, 2) for name in METHODS]
    assert sorted(str(one.task) for one in seen if one.state == "done") == sorted(2 * tasks)
    assert all(0 <= one.share <= 1 for one in seen)


def test_without_a_folder_the_models_come_back_too() -> None:
    found = compare(folds(1), METHODS[:2], ["ndcg@5"], jobs=2)
    test = folds(1)[0].test
    assert test is not None
    for one in found.outcomes:
        assert one.model is not None
        np.testing.assert_array_equal(evaluate(test, one.model.score(test), ["ndcg@5"]).values, one.values)


@pytest.mark.parametrize("jobs", [1, 2])
def test_where_a_method_fails_the_others_are_finished_and_kept(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(ComparisonError, match=r"2 of 4 failed: Fold. listnet.*: .* which linear cannot take") as caught:
        compare(with_gaps(), [BROKEN, "regression"], ["ndcg@5"], output=tmp_path, jobs=jobs)
    left = caught.value.comparison
    assert isinstance(left, Comparison)
    assert list(left.by_method) == ["regression"]
    assert json.loads((tmp_path / "results.json").read_text()) == json.loads(json.dumps(left.to_dict()))
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert "in refuse_missing" in "".join(caught.value.__notes__)


def test_where_all_fail_there_is_no_comparison() -> None:
    with pytest.raises(ComparisonError, match=r"^1 of 1 failed: Fold1 ") as caught:
        compare(with_gaps()[:1], [BROKEN], ["ndcg@5"])
    assert caught.value.comparison is None


def test_a_task_whose_process_is_killed_has_failed_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Worker.begin

    def killed(self: Worker, task: Task, key: str) -> None:
        if task == Task("Fold2", "regression"):
            self.process.kill()
        begin(self, task, key)

    monkeypatch.setattr(Worker, "begin", killed)
    with pytest.raises(ComparisonError, match="1 of 4 failed: Fold2 regression: its process was ended by SIGKILL, as"):
        compare(folds(), ["regression", "random"], ["ndcg@5"], output=tmp_path, jobs=2)
    assert len(list((tmp_path / "runs").iterdir())) == 3
    monkeypatch.undo()
    again = compare(folds(), ["regression", "random"], ["ndcg@5"], output=tmp_path, jobs=2)
    assert sum(one.model is not None for one in again.outcomes) == 1  # alone, and so on this process


def test_a_method_of_a_script_needs_one_job() -> None:
    program = """
from podium.data import Fold, make_letor_like, split
from podium.base.errors import IncompatibleError
from podium.comparison import compare
from podium.losses import RankNet
from podium.methods import Method, register_method
from podium.recipe import Recipe
from podium.base.registry import register

@register
class MyLoss(RankNet):
    "One of my own."

register_method("mine", Method(Recipe(loss=MyLoss()), {"penalty": (0.1, 1.0)}))
fold = Fold(*split(make_letor_like(20, (4, 8), n_features=5, seed=1)[0]), name="one")
print(compare([fold], ["mine", "random"]).by_method["mine"][0].learner)
try:
    compare([fold], ["mine", "random"], jobs=2)
except IncompatibleError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    learner, words = done.stdout.splitlines()
    assert learner.startswith("recipe(loss=my-loss")
    assert words.startswith("No method 'mine'.")
    assert "not what a script registers. Use one job, or make the module a plug-in" in words


def test_at_least_one_job_is_needed() -> None:
    with pytest.raises(ParameterError, match="jobs must be a whole number of at least 1; got 0"):
        compare(folds(1), ["random"], jobs=0)


def started(tmp_path: Path) -> subprocess.Popen[str]:
    """A comparison on two processes that takes minutes, once one of its tasks is finished."""
    for k in (1, 2):
        (tmp_path / f"data/Fold{k}").mkdir(parents=True)
        data, _ = make_letor_like(40, (40, 60), n_features=30, seed=k)
        for name, part in zip(("train", "vali", "test"), split(data), strict=True):
            write_letor(part, tmp_path / f"data/Fold{k}/{name}.txt")
    words = ["compare", str(tmp_path / "data"), "--method", "random", "--method", LONG, "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        [*PODIUM, *words, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    while len(list((tmp_path / "out/runs").glob("*.json"))) < 1 or len(workers_of(process.pid)) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    return process


def workers_of(parent: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False)
    return list(map(int, found.stdout.split()))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_one_who_started_it(tmp_path: Path, how: signal.Signals) -> None:
    with started(tmp_path) as process:
        workers = workers_of(process.pid)
        os.killpg(process.pid, how)
        _, err = process.communicate(timeout=20)
        deadline = time.monotonic() + 20
        while any(map(alive, workers)):
            assert time.monotonic() < deadline, "a worker lingers"
            time.sleep(0.02)
    if how == signal.SIGINT:
        assert process.returncode == 130
        kept = f"1 of 4 are kept in {tmp_path / 'out'}; the same command goes on from there."
        assert err.splitlines()[-2:] == [kept, "podium: interrupted."]
        assert "Traceback" not in err


def test_a_worker_ends_with_its_standard_input() -> None:
    program = [sys.executable, "-m", "podium.comparison.worker", str(os.getpid())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.close()
        try:
            assert process.wait(30) == 0
        finally:
            process.kill()
