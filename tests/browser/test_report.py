"""The report in a real browser: it sorts, filters and switches, in both themes and on a phone, without errors."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from browser.devtools import CHROMIUM, Browser
from podium.comparison import compare
from podium.data import Fold, make_letor_like, split
from podium.evaluation.compare import Comparison
from podium.pages.report import Names, write_report

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]

METHODS = ["random", "listnet", "lambdamart(num_leaves=4,rounds=15)", "single-feature"]
DATASET = "made <b>up</b>"
NASTY = "</script><script>document.title='out'</script><img src=x onerror=\"document.title='out'\">"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    folder = tmp_path_factory.mktemp("comparison")
    folds = []
    for k in range(2):
        train, vali, test = split(make_letor_like(60, (6, 10), n_features=5, seed=k)[0])
        names = [f"{k}{q:02d}" for q in range(test.n_queries)]
        names[0] = NASTY if k == 0 else names[0]
        folds.append(Fold(train, vali, replace(test, query_ids=np.array(names, dtype=object)), name=f"Fold{k + 1}"))
    return compare(folds, METHODS, ["ndcg@5", "map"], output=folder, dataset=DATASET), folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(seconds=120) as started:
        yield started


@pytest.fixture
def page(browser: Browser, made: tuple[Comparison, Path]) -> Iterator[Browser]:
    """The page as it opens; afterwards nothing may have gone wrong in it."""
    browser.open(made[1])
    yield browser
    browser.run("1")
    assert browser.problems == []
    assert browser.run("document.title") == f"{DATASET}: comparison of ranking methods"


def column(page: Browser, table: str, c: int) -> list[Any]:
    """What a column of a table shows; its exact numbers where it has them."""
    script = f"""JSON.stringify([...document.querySelectorAll('#{table} tbody tr')].map((row) =>
        row.children[{c}].dataset.value ?? row.children[{c}].textContent))"""
    return list(json.loads(page.run(script)))


def choose(page: Browser, control: str, value: str) -> None:
    kind = "input" if control == "find" else "change"
    page.run(
        f"(() => {{ const one = document.getElementById('{control}'); one.value = {json.dumps(value)};"
        f" one.dispatchEvent(new Event('{kind}')); }})()"
    )


def numbers(page: Browser, table: str, c: int) -> list[float]:
    return list(map(float, column(page, table, c)))


def test_the_leaderboard_shows_the_means_best_first(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    assert column(page, "leaders", 0) == found.ranking()
    assert numbers(page, "leaders", 1) == [found.mean(name)[0] for name in found.ranking()]
    assert numbers(page, "leaders", 2) == [found.pooled(name)[0].value for name in found.ranking()]
    tested = found.significance["ndcg@5"]
    assert tested is not None
    assert tested.letters is not None
    assert column(page, "leaders", 6) == [tested.letters[name] for name in found.ranking()]


def test_a_press_on_a_head_sorts_and_another_turns_the_order_round(page: Browser) -> None:
    head = "document.querySelectorAll('#leaders thead th')"
    page.run(f"{head}[8].querySelector('button').click()")
    seconds = numbers(page, "leaders", 8)
    assert seconds == sorted(seconds, reverse=True)
    assert page.run(f"{head}[8].getAttribute('aria-sort')") == "descending"
    assert page.run(f"{head}[1].getAttribute('aria-sort')") == "none"
    page.run(f"{head}[8].querySelector('button').click()")
    assert numbers(page, "leaders", 8) == sorted(seconds)
    assert page.run(f"{head}[8].getAttribute('aria-sort')") == "ascending"


def test_the_keyboard_sorts_too_and_keeps_its_place(page: Browser) -> None:
    page.run("document.querySelector('#leaders thead button').focus()")
    page.press("Enter")
    assert column(page, "leaders", 0) == sorted(METHODS)
    assert page.run("document.activeElement.textContent") == "Method"
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "Mean of folds"


def test_switching_the_metric_switches_all_numbers(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    choose(page, "metric", "map")
    order = sorted(METHODS, key=lambda name: -found.mean(name)[1])
    assert column(page, "leaders", 0) == order
    assert numbers(page, "leaders", 1) == [found.mean(name)[1] for name in order]
    tested = found.significance["map"]
    assert tested is not None
    assert numbers(page, "leaders", 4) == [tested.systems[name].interval.low for name in order]
    assert "map of each query" in page.run("document.querySelector('#queries caption').textContent")


def test_wins_and_losses_are_those_of_the_tests(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    tested = found.significance["ndcg@5"]
    assert tested is not None
    choose(page, "baseline", "random")
    shown = dict(zip(column(page, "leaders", 0), column(page, "leaders", 7), strict=True))
    for pair in tested.pairs:
        if pair.b == "random":
            assert shown[pair.a] == str(pair.effect.wins - pair.effect.losses)
    choose(page, "method", "listnet")
    effect = next(pair.effect for pair in tested.pairs if {pair.a, pair.b} == {"listnet", "random"})
    words = page.run("document.getElementById('versus').textContent")
    assert f"{effect.wins} won, {effect.ties} tied, {effect.losses} lost" in words


def test_queries_are_filtered_by_name_and_by_outcome(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    every = len(column(page, "queries", 0))
    assert every == sum(len(one.query_ids) for one in found.by_method["random"])
    choose(page, "find", "query 10")
    assert sorted(column(page, "queries", 0)) == [f"10{k}" for k in range(10)]
    assert page.run("document.getElementById('found').textContent") == f"10 queries of {every}"
    choose(page, "find", "")
    choose(page, "outcome", "lost")
    lost = numbers(page, "queries", 4)
    assert lost
    assert all(difference < 0 for difference in lost)


def test_text_of_the_data_stays_text(page: Browser) -> None:
    choose(page, "find", "</script>")
    assert column(page, "queries", 0) == [NASTY]
    assert page.run("document.querySelectorAll('img').length") == 0


def test_the_best_is_called_so_only_where_it_is(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    assert page.run("document.querySelector('h1').textContent") == f"{DATASET}: comparison of ranking methods"
    for metric in found.metrics:
        choose(page, "metric", str(metric))
        words = page.run("document.getElementById('summary').textContent")
        best, close = found.best(metric), found.ties_with_best(metric)
        start = (
            f"Highest {metric}: {best}, but not significantly better"
            if close
            else f"Best by {metric}: {best}, significantly better"
        )
        assert start in words
        assert all(name in words for name in close)


def test_cpu_seconds_stand_beside_those_of_the_clock(page: Browser, made: tuple[Comparison, Path]) -> None:
    found, _ = made
    assert numbers(page, "leaders", 9) == [found.cpu_seconds(name) for name in found.ranking()]


def test_folds_are_named_in_learning_curves(page: Browser) -> None:
    def texts(where: str) -> list[str]:
        return list(page.run(f"[...document.querySelectorAll('{where}')].map((node) => node.textContent)"))

    assert texts("#learning-note .keys > span") == ["Fold1", "Fold2"]
    assert {text.split(":")[0] for text in texts("#learning path title")} == {"Fold1", "Fold2"}


def test_a_table_that_is_too_wide_says_that_it_scrolls(browser: Browser, made: tuple[Comparison, Path]) -> None:
    hint = "document.querySelector('#leaders').nextElementSibling.textContent"
    browser.open(made[1], width=360)
    assert browser.run(hint) == "Scroll sideways for more columns →"
    browser.open(made[1], width=2000)
    assert browser.run("document.querySelectorAll('#data-table + .hint').length") == 0


def test_every_chart_is_drawn_and_has_words_for_those_who_do_not_see_it(page: Browser) -> None:
    for name in ("scatter", "differences", "curves", "time", "learning"):
        assert page.run(f"document.querySelectorAll('#{name} svg[role=img][aria-label]').length") >= 1
    assert page.run("document.querySelectorAll('#curves path').length") == len(METHODS)
    assert page.run("document.querySelectorAll('#learning figure').length") == 2
    assert page.run("document.querySelectorAll('#pairs .card').length") == 4
    assert page.run("document.querySelectorAll('#importance tbody tr').length") >= 3
    page.run("document.querySelector('#curves .legend button').click()")
    assert page.run("document.querySelectorAll('#curves path').length") == len(METHODS) - 1
    choose = "(() => {{ const choice = document.querySelector('#curve'); choice.value = '{}'; "
    choose += "choice.dispatchEvent(new Event('change')); }})()"
    for name in ("P", "MAP", "NDCG"):
        page.run(choose.format(name))
        assert page.run("document.querySelector('#curves svg[role=img]').getAttribute('aria-label')").startswith(
            f"{name} at"
        )
        assert page.run("document.querySelectorAll('#curves path').length") == len(METHODS) - 1
    assert page.run("[...document.querySelectorAll('svg')].map((one) => one.innerHTML).join().includes('NaN')") is False


@pytest.mark.parametrize("width", [360, 1100])
def test_both_themes_fit_phones_and_screens(browser: Browser, made: tuple[Comparison, Path], width: int) -> None:
    backgrounds = set()
    for dark in (False, True):
        browser.open(made[1], width=width, dark=dark)
        backgrounds.add(browser.run("getComputedStyle(document.body).backgroundColor"))
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.screenshot().startswith(b"\x89PNG")
    assert len(backgrounds) == 2
    assert browser.problems == []


def test_on_paper_it_is_light_and_no_table_is_cut(browser: Browser, made: tuple[Comparison, Path]) -> None:
    browser.open(made[1], width=718, dark=True)
    theme = {"name": "prefers-color-scheme", "value": "dark"}
    browser.call("Emulation.setEmulatedMedia", media="print", features=[theme])
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("document.documentElement.scrollWidth") <= 718


def downloaded(page: Browser, folder: Path, button: str) -> Path:
    """Press a button, and wait for the one file that it downloads."""
    folder.mkdir()
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.run(f"{button}.click()")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        files = [file for file in folder.iterdir() if file.suffix != ".crdownload"]
        if files and files[0].stat().st_size:
            return files[0]
        time.sleep(0.05)
    raise TimeoutError(f"{button} downloads nothing")


def test_tables_are_downloaded_with_their_exact_values(
    page: Browser, made: tuple[Comparison, Path], tmp_path: Path
) -> None:
    found, _ = made
    tools = "document.querySelector('#leaders').previousElementSibling.querySelectorAll('button')"
    file = downloaded(page, tmp_path / "csv", f"{tools}[0]")
    assert file.suffix == ".csv"
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    assert [row["Method"] for row in rows] == found.ranking()
    assert [float(row["Mean of folds"]) for row in rows] == [found.mean(name)[0] for name in found.ranking()]
    tex = downloaded(page, tmp_path / "tex", f"{tools}[1]").read_text("utf-8")
    assert "\\usepackage{booktabs}" in tex
    second = found.ranking()[1].replace("_", "\\_")
    assert f"\\caption{{NDCG@5 on the test queries; won, tied and lost against {second}}}" in tex
    first = tex.split("\\midrule\n")[1].splitlines()[0]
    assert first.strip().startswith(f"{found.ranking()[0]} & {found.mean(found.ranking()[0])[0]:.4f} & ")
    assert first.count(" & ") == len(rows[0]) - 1
    queries = "document.querySelector('#queries').previousElementSibling.querySelectorAll('button')"
    text = downloaded(page, tmp_path / "queries", f"{queries}[0]").read_text("utf-8")
    assert NASTY.replace('"', '""') in text
    assert len(list(csv.reader(io.StringIO(text)))) == 1 + sum(len(one.query_ids) for one in found.by_method["random"])


@pytest.mark.parametrize("dark", [False, True])
def test_figures_are_downloaded_as_svg_that_stands_alone_in_light_colours(
    browser: Browser, made: tuple[Comparison, Path], tmp_path: Path, dark: bool
) -> None:
    browser.open(made[1], dark=dark)
    for host in ("scatter", "differences", "curves", "time", "learning"):
        file = downloaded(browser, tmp_path / host, f"document.querySelector('#{host} .tools button')")
        assert file.suffix == ".svg"
        text = file.read_text("utf-8")
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in text
        assert 'fill="#ffffff"' in text
    assert "#2a78d6" in (tmp_path / "curves").joinpath("ndcg-at-each-cut-off.svg").read_text("utf-8")
    assert browser.problems == []


def test_twelve_methods_differ_in_their_colours_and_neighbours_of_like_colour_in_their_lines(page: Browser) -> None:
    script = "[...Array(12).keys()].map((k) => getComputedStyle(document.body).getPropertyValue(`--c${k}`).trim())"
    assert len(set(page.run(script))) == 12


def test_the_report_uses_a_wide_window_and_shows_shares_without_scrolling(
    browser: Browser, made: tuple[Comparison, Path]
) -> None:
    browser.open(made[1], width=1600)
    assert browser.run("document.querySelector('#leaders').clientWidth") > 1400
    browser.open(made[1], width=1280)
    heads = "[...document.querySelectorAll('#pairs thead')].map((one) => one.rows[0].cells[1].innerText)"
    assert set(browser.run(heads)) == {"Share"}
    fits = "[...document.querySelectorAll('#pairs .scroll')].every((one) => one.scrollWidth <= one.clientWidth)"
    assert browser.run(fits)


def test_texts_of_queries_and_titles_of_documents_stand_beside_their_ids(
    browser: Browser, made: tuple[Comparison, Path], tmp_path: Path
) -> None:
    found, _ = made
    query = found.by_method["listnet"][0].query_ids[1]
    pair = found.by_method["listnet"][0].details["pairs"][0]
    id = pair["documents"][0]["document"]
    write_report(found, tmp_path, names=Names({query: "warm <b>tents</b>"}, {id: "A tent & pegs"}))
    browser.open(tmp_path / "report.html", width=390)
    choose(browser, "find", "WARM")
    assert column(browser, "queries", 0) == [query]
    assert column(browser, "queries", 1) == ["warm <b>tents</b>"]
    choose(browser, "method", "listnet")
    assert f"A tent & pegs [{id}] (rank" in browser.run("document.querySelector('#pairs').textContent")
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.problems == []
