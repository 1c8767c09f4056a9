"""Makes ranklib.json: files of both kinds, rows that are hard to decide, and what the Java code of RankLib scores.

    python tests/golden/make_ranklib.py RankLib.jar

It needs Java 11 or later. No released jar was used for the scores there: the classes that load and score, as
github.com/codelibs/ranklib has them at commit 378a17d, cut down to that, were compiled by OpenJDK 17.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from podium.export import Target  # noqa: E402
from podium.export.replay_vectors import vectors  # noqa: E402
from podium.imports import import_model  # noqa: E402
from reference.forests import D, grown, odd  # noqa: E402

ROWS = 50


def exported(model):
    target = Target.parse("ranklib(missing_as_zero=true)")
    return target.write(target.accept(model)).decode()


def weighted(text, kind="LambdaMART"):
    """Weights as RankLib learns them, a learning rate that float32 does not hold exactly."""
    return text.replace('weight="1.0"', 'weight="0.1"').replace("## LambdaMART", f"## {kind}")


def cases():
    small, tiny = exported(grown(7, "nan", 3)), exported(odd("minus denormal"))
    bag = weighted(small, "Random Forests")
    return {
        "podium's trees": small,
        "podium's trees next to 0": tiny,
        "podium's weights": exported(import_model(b"## Coordinate Ascent\n1:0.1 2:-0.7 3:1e-3 6:0.3\n")),
        "trees of weight 0.1": weighted(small),
        "a bag of trees": bag + bag.partition("\n\n")[2],
    }


def rows_of():
    """Rows around the thresholds of both forests; the last feature is always there, since RankLib asks for it."""
    target = Target.parse("python")
    found = [vectors(target.accept(model)) for model in (grown(7, "nan", 3), odd("minus denormal"))]
    X = np.concatenate([one[np.linspace(0, len(one) - 1, ROWS // 2).astype(int)] for one in found])
    X[:, D - 1] = np.nan_to_num(X[:, D - 1])
    return X


def main(jar):
    X = rows_of()
    lines = [
        " ".join(["0 qid:1", *(f"{l}:{float(x)!r}" for l, x in enumerate(row, 1) if not np.isnan(x))]) for row in X
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder, "rows.txt"), Path(folder, "model.txt")
        data.write_text("\n".join(lines) + "\n")
        for name, text in cases().items():
            model.write_text(text)
            done = subprocess.run(
                ["java", "-cp", jar, HERE / "ScoreRankLib.java", model, data],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            found.append({"name": name, "file": text, "scores": [float(line) for line in done.stdout.split()]})
    rows = [[None if np.isnan(x) else float(x) for x in row] for row in X]
    (HERE / "ranklib.json").write_text(json.dumps({"rows": rows, "cases": found}, indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
