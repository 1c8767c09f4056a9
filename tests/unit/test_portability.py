"""What works on a system without POSIX's own modules, such as Windows: tried by blocking them."""

import os
import subprocess
import sys
from pathlib import Path

import podium
from podium.testing import linear_data

WITHOUT_POSIX = """
import os, signal, sys
for name in ("fcntl", "resource", "uvloop", "pwd", "grp", "termios"):
    sys.modules[name] = None  # importing it raises ImportError
for module, names in {os: ("O_NOFOLLOW", "geteuid", "getuid", "sched_getaffinity", "pread", "pwrite"),
                      signal: ("SIGHUP", "SIGKILL", "SIGPIPE")}.items():
    for name in names:
        delattr(module, name)
"""


def without_posix(program: str, folder: Path) -> str:
    code = WITHOUT_POSIX + program
    paths = os.pathsep.join(path for path in sys.path if path)  # with the folder of tests
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_train_save_load_evaluate_and_export(tmp_path: Path) -> None:
    without_posix(
        """
import podium
from podium.testing import linear_data
data = linear_data(20, 6)
model = podium.train(data, "listnet", valid=linear_data(10, 6, seed=1))
model.save("m.podium")
assert (podium.load("m.podium").score(data) == model.score(data)).all()
assert podium.evaluate(data, model.score(data), "ndcg@5").means()
from podium.export import export
export(model, "solr", "m.json")
""",
        tmp_path,
    )
    assert podium.load(tmp_path / "m.podium").score(linear_data(20, 6)).shape == (120,)


def test_comparisons_of_methods_run_and_are_kept(tmp_path: Path) -> None:
    podium.write_letor(linear_data(12, 6), tmp_path / "train.txt")
    podium.write_letor(linear_data(6, 6, seed=1), tmp_path / "vali.txt")
    podium.write_letor(linear_data(6, 6, seed=2), tmp_path / "test.txt")
    out = without_posix(
        """
sys.argv = ["podium", "compare", ".", "--methods", "random,single-feature", "--jobs", "1", "-o", "kept"]
from podium.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
""",
        tmp_path,
    )
    assert "single-feature" in out
    assert (tmp_path / "kept" / "report.html").is_file()


def test_the_service_answers_and_keeps_models(tmp_path: Path) -> None:
    podium.train(linear_data(10, 5), "regression").save(tmp_path / "m.podium")
    out = without_posix(
        """
from asgi import Client
from podium.service.app import build
from podium.service.settings import Settings
from podium.testing import linear_data
rows = linear_data(1, 4).features.tolist()
served = build(Settings(models=("m.podium",), store="feedback.db", shelf="models"))
answer = Client(served)("POST", "/v1/rank", {"documents": [{"features": row} for row in rows]})
print(answer.status, len(answer.json["results"]))
served.state.podium.close()
""",
        tmp_path,
    )
    assert out == "200 4\n"
