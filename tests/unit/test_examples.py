"""Every example in docstrings, README and docs is run, and prints what it says it prints.

Docstrings are run by doctest. A page of Markdown is run in a folder of made-up data: its blocks marked `python` one
after another in one namespace, and in other blocks the lines that begin with `podium` or `$ podium`. What follows a
line `$ podium …`, or stands in a plain block after a `python` block, must be printed. A line `…` stands for any lines,
and numbers must agree to the last digit shown, give or take one.

Comments that readers of the page do not see, on the line before a block, say what is special:

    <!-- not run: needs OHSUMED -->             for what takes minutes or needs what is not there
    <!-- numbers vary: trees of LightGBM -->    all but numbers is compared; they depend on versions and processors
"""

import contextlib
import doctest
import importlib
import io
import json
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import podium
from podium.aggregation.rankings.metasearch import make_metasearch
from podium.cli import demo, progress
from podium.cli.main import app
from podium.clicks import simulate
from podium.data import make_letor_like
from podium.export import Target
from podium.formats import write_letor
from podium.formats.trec.trec import write_qrels

ROOT = Path(__file__).parents[2]
WRITTEN = (ROOT / "docs" / "reference", ROOT / "docs" / "files")  # by scripts/docs, from the code and these very files
PAGES = [
    "README.md",
    *sorted(
        str(page.relative_to(ROOT))
        for page in (ROOT / "docs").rglob("*.md")
        if not any(page.is_relative_to(folder) for folder in WRITTEN)
    ),
]
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])")


def says_the_same(expected: str, got: str, *, numbers: bool = True) -> bool:
    """Whether a text is the expected one, up to spaces, lines left out at `…`, and the last digit of numbers."""
    wanted, found = (
        [re.sub(r"\s+", " ", line).strip() for line in text.strip().splitlines()] for text in (expected, got)
    )
    return _lines_match(wanted, found, numbers)


def _lines_match(wanted: list[str], found: list[str], numbers: bool) -> bool:
    if not wanted:
        return not found
    if wanted[0] == "…":
        return any(_lines_match(wanted[1:], found[skip:], numbers) for skip in range(len(found) + 1))
    return bool(found) and _line_matches(wanted[0], found[0], numbers) and _lines_match(wanted[1:], found[1:], numbers)


def _line_matches(wanted: str, found: str, numbers: bool) -> bool:
    if not numbers:
        return re.sub(r"[\d.,+−–—\-■│| ]+", "", wanted) == re.sub(r"[\d.,+−–—\-■│| ]+", "", found)
    if NUMBER.sub("#", wanted) != NUMBER.sub("#", found):
        return False
    return all(_near(a, b) for a, b in zip(NUMBER.findall(wanted), NUMBER.findall(found), strict=True))


def _near(wanted: str, found: str) -> bool:
    """Whether two numbers agree to the last of the digits shown, of which only the first ten count."""
    a, b = (float(text.replace("−", "-")) for text in (wanted, found))
    mantissa, _, exponent = wanted.partition("e")
    shown = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) if "." in mantissa else 0.0
    return abs(a - b) <= 1.001 * max(shown, 1e-10 * abs(a) if shown else 0.0)


class Checker(doctest.OutputChecker):
    """Doctest's own, then one that forgives the last digit of numbers."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, got, optionflags) or says_the_same(want, got)


def modules_with_examples() -> list[str]:
    found = [podium.__name__, *(module.name for module in pkgutil.walk_packages(podium.__path__, "podium."))]
    source = Path(podium.__file__).parent.parent
    files = {name: source.joinpath(*name.split(".")) for name in found}
    text = {name: (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")) for name, path in files.items()}
    return [name for name, file in text.items() if ">>>" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_of_a_module_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = io.StringIO()
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(example, out=report.write)
    assert runner.failures == 0, report.getvalue()


def be_quick(patch: pytest.MonkeyPatch) -> None:
    """One process, and a demo of few methods; `.ci/run` runs the whole. No progress, which slow machines print."""
    patch.setenv("PODIUM_THREADS", "1")
    patch.setattr(progress, "_INTERVAL", 3600.0)
    patch.setattr(demo, "METHODS", ("random", "single-feature", "listnet", "lambdamart"))


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    """A folder with the files that the pages name: podium-demo, DATA and test.txt, runs, votes, documents."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        be_quick(patch)
        run_command(f"podium demo -o {folder / 'podium-demo'}", "", "podium demo")
    (folder / "DATA").mkdir()
    data, _ = make_letor_like(60, (4, 12), n_features=8, seed=1)
    for name, part in zip(("train", "vali", "test"), podium.split(data), strict=True):
        write_letor(part, folder / "DATA" / f"{name}.txt")
    shutil.copy(folder / "DATA" / "test.txt", folder / "test.txt")
    shown = podium.split(data)[0]
    rankers = [shown.features[:, column] for column in (0, 5)]
    podium.write_clicks(simulate(shown, rankers, pages=2_000, depth=4, seed=0), folder / "log.jsonl")
    rankings, qrels = make_metasearch(30, seed=2)
    for engine, name in enumerate(("bm25", "dense", "splade")):
        with (folder / f"{name}.run").open("w") as file:
            for q in range(rankings.n_queries):
                query = rankings.query(q)
                mine = query.voter_of == engine
                for document, score in zip(query.document_ids[query.documents[mine]], query.scores[mine], strict=True):
                    print(rankings.query_ids[q], "Q0", document, 0, score, name, file=file)
    write_qrels(qrels, folder / "judged.qrels")
    shutil.copy(folder / "judged.qrels", folder / "test.qrels")
    rng = np.random.default_rng(0)
    votes = "".join(f"1: {','.join(map(str, rng.permutation(5)[:3] + 1))}\n" for _ in range(20))
    names = "".join(f"# ALTERNATIVE NAME {i}: car {i}\n" for i in range(1, 6))
    (folder / "season.soi").write_text(f"# NUMBER ALTERNATIVES: 5\n# NUMBER VOTERS: 20\n{names}{votes}")
    write_collection(folder)
    return folder


def write_collection(folder: Path) -> None:
    """Documents, queries and judgments: docs.jsonl, queries.jsonl, qrels.txt."""
    words = ["heat", "transfer", "slabs", "steel", "flow", "wing", "shock", "wave"]
    rng = np.random.default_rng(3)
    docs = [{"id": f"d{k}", "title": words[k % 8], "text": " ".join(rng.choice(words, 6))} for k in range(40)]
    queries = [{"id": f"q{k}", "text": f"{words[k]} in {words[(k + 3) % 8]}"} for k in range(8)]
    for name, rows in (("docs", docs), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.txt").write_text("".join(f"q{k % 8} 0 d{k} 1\n" for k in range(40)))


BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
MARKS = ("not run: ", "numbers vary: ")


def blocks(page: str) -> list[tuple[str, str, str, int]]:
    """(mark, language, body, line) of every fenced block of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        (found["mark"] or "", found["language"], found["body"], text.count("\n", 0, found.start("body")) + 1)
        for found in BLOCK.finditer(text)
    ]


def commands(body: str) -> list[tuple[str, str]]:
    """(command, what it prints) of the lines that call podium; what is printed is known after `$ podium` only."""
    found: list[list[str]] = []
    for line in body.splitlines(keepends=True):
        if line.startswith(("podium ", "$ podium ")):
            found.append([line.removeprefix("$ "), ""])
        elif found and "$ podium " in body:
            found[-1][1] += line
    return [(command.partition(" #")[0].strip(), prints) for command, prints in found]


def run_python(body: str, names: dict[str, object], where: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, where, "exec"), names)
    return printed.getvalue()


def run_command(command: str, prints: str, where: str) -> str:
    """What a command prints, its messages before its results; it fails only where the page shows the error."""
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == (1 if "\npodium: " in f"\n{prints}" else 0), f"{where}: {command}: {done.output}"
    return done.stderr + done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_the_examples_of_a_page_print_what_it_says(page, made_up, tmp_path, monkeypatch):
    folder = shutil.copytree(made_up, tmp_path / "page")
    monkeypatch.chdir(folder)
    be_quick(monkeypatch)
    names: dict[str, object] = {"__name__": "page"}
    printed: str | None = None  # by the Python block just before
    for mark, language, body, line in blocks(page):
        where = f"{page}:{line}"
        assert not mark or mark.startswith(MARKS), f"{where}: a comment before a block begins with one of {MARKS}"
        pairs = []
        if mark.startswith("not run"):
            printed = None
            continue
        if language == "python":
            printed = run_python(body, names, where)
            continue
        if language in ("", "sh") and commands(body):
            pairs = [(prints, run_command(command, prints, where)) for command, prints in commands(body)]
        elif language == "" and printed is not None:
            pairs = [(body, printed)]
        for expected, got in pairs:
            same = not expected or says_the_same(expected, got, numbers=not mark.startswith("numbers vary"))
            assert same, f"{where} says\n{expected}\nbut this is printed\n{got}"
        printed = None


@pytest.mark.slow
def test_the_readmes_road_to_production_ends_with_proven_files_on_the_demos_data(made_up, tmp_path, monkeypatch):
    (tmp_path / "DATA").mkdir()
    for part in ("train", "vali", "test"):
        data = podium.read_letor(made_up / "podium-demo" / "data" / f"{part}.txt")
        write_letor(data.select(range(20)), tmp_path / "DATA" / f"{part}.txt")
    shutil.copy(tmp_path / "DATA" / "test.txt", tmp_path / "test.txt")
    monkeypatch.chdir(tmp_path)
    be_quick(monkeypatch)
    [road] = [body for _, _, body, _ in blocks("README.md") if "podium export" in body]
    for command, prints in commands(road):
        assert "NOT PROVEN" not in run_command(command, prints, "README.md")
    small = "podium train DATA --method 'lambdamart(transform=identity,rounds=20)' -o engine.podium"
    run_command(small, "", "a smaller model, for all targets")
    for target in Target.catalogue():
        if target == "onnx" and importlib.util.find_spec("onnx") is None:
            continue
        if target in ("elasticsearch-linear", "opensearch-hybrid"):  # weights of first stages, not models of features
            continue
        model = demo_model(made_up) if target in ("onnx", "c", "python") else "engine.podium"
        run_command(f"podium export {model} --to {target} -o out.{target} --data test.txt", "", target)
        assert Path(f"out.{target}").exists()


def demo_model(made_up: Path) -> str:
    """What lambdamart chose by itself for the demo's data: features scaled within queries."""
    path = made_up / "podium-demo" / "models" / "data-lambdamart.podium"
    assert podium.load(path).learner.transform.per_query, "else another demo shows better what engines cannot take"
    return str(path)


def test_a_page_that_says_another_number_is_noticed():
    assert says_the_same("mean  0.7123\n…\nlast 5", "mean 0.7124\nx\ny\nlast 5")
    assert not says_the_same("mean  0.7123", "mean 0.7125")
    assert not says_the_same("5 queries", "6 queries")
    assert not says_the_same("a 1.0\nb 2.0", "a 1.0")
    assert says_the_same("NDCG .45 ± 0.01", "NDCG .47 ± 0.9", numbers=False)
    assert not says_the_same("NDCG .45", "MAP .45", numbers=False)
