"""Pictures of the gallery: pages that podium's commands write, as a browser shows them.

    python -m benchmarks.gallery [-o docs/gallery]

Data is synthetic, from fixed seeds; chromium must be installed. docs/gallery.md shows the commands.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import podium
from podium.clicks import simulate

COMMANDS = {
    "report": ["compare DATA --method listnet --method ranknet --method lambdamart --method single-feature -o out"],
    "clicks": ["clicks check clicks.jsonl --report out/clicks.html"],
    "curve": ["curve DATA/train.txt --method listnet -o out/curve.html"],
    "propensity": ["clicks propensity clicks.jsonl --how harvest -o theta.json --report out/propensity.html"],
    "arena": ["rate battles.csv --report out/arena.html"],
    "shapes": [
        "train DATA/train.txt --valid DATA/vali.txt --method lambdamart(transform=identity) -o trees.podium",
        "explain trees.podium DATA/test.txt --shapes -o out/shapes.html",
    ],
    "importance": ["importance trees.podium DATA/test.txt --kind shap -o out/importance.html"],
}
PAGES = {name: f"{name}.html" for name in COMMANDS} | {"report": "report.html"}
SIZE = (1100, 760)


def write_data(folder: Path) -> None:
    """The files that the commands read: DATA, clicks.jsonl and battles.csv."""
    data, _ = podium.make_letor_like(200, (8, 16), n_features=8, seed=1)
    (folder / "DATA").mkdir()
    for name, part in zip(("train", "vali", "test"), podium.split(data, seed=0), strict=True):
        podium.write_letor(part, folder / "DATA" / f"{name}.txt")
    shown = podium.split(data, seed=0)[0]
    rankers = [shown.features[:, column] for column in (0, 5)]
    podium.write_clicks(simulate(shown, rankers, pages=8_000, depth=8, seed=0), folder / "clicks.jsonl")
    rng = np.random.default_rng(5)
    players, strength = [f"model-{letter}" for letter in "abcdefgh"], np.linspace(1.2, -1.2, 8)
    lines = ["a,b,winner"]
    for _ in range(900):
        a, b = rng.choice(8, 2, replace=False)
        chance = 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
        tie, won = rng.random() < 0.15, rng.random() < chance
        lines.append(f"{players[a]},{players[b]},{'tie' if tie else 'a' if won else 'b'}")
    (folder / "battles.csv").write_text("\n".join(lines) + "\n")


def photograph(page: Path, picture: Path) -> None:
    """What a browser shows of a page, without scrolling."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("The gallery needs chromium.")
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=4000",
        size,
    ]
    subprocess.run([browser, *options, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/gallery"))
    output = parser.parse_args().output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        write_data(Path(place))
        Path("out").mkdir()
        for name, commands in COMMANDS.items():
            for command in commands:
                print("podium", command, flush=True)
                subprocess.run(
                    [sys.executable, "-m", "podium", *command.split()], check=True, stdout=subprocess.DEVNULL
                )
            photograph(Path("out", PAGES[name]).resolve(), output / f"{name}.png")
        os.chdir(output)


if __name__ == "__main__":
    main()
