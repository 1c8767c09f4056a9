"""The page of the service in a real browser: each panel shows what the library computes, by mouse and by keyboard.

With PODIUM_AXE set to the path of axe-core's axe.min.js, every view is also checked by axe (see `serving`).
"""

from __future__ import annotations

import hashlib
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import podium
from browser.devtools import CHROMIUM, Browser
from browser.serving import axe_violations, choose, press, serving, show, text
from podium.data import Dataset
from podium.explanation.explain import explain
from podium.service.feedback.judging import read_judgments

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]

NASTY = "</p><script>document.title='out'</script><img src=x onerror=\"document.title='out'\">"
WORDS = ["heat", "transfer", "slabs", "steel", "flow", "wing", "shock", "wave"]
PAGE = Path(podium.__file__).parent / "service" / "page"
LIN, TREES = "lin@1", "trees@1"


@dataclass(frozen=True)
class Made:
    """What the service serves."""

    folder: Path
    data: Dataset
    models: dict[str, Any]

    def query(self, q: int) -> Dataset:
        return self.data.select([q])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Data with names of features, missing values and an id that is markup; two models of it; an index."""
    folder = tmp_path_factory.mktemp("served")
    whole, _ = podium.make_letor_like(40, (28, 32), n_features=5, seed=4)
    whole = whole.with_features(whole.features, ("bm25", "title", "age", "clicks", "length"))
    train, valid, test = podium.split(whole)
    ids = test.document_ids.copy()
    ids[3] = "<b>3</b>"
    X = test.features.copy()
    X[::7, 2] = np.nan
    test = replace(test.with_features(X, test.feature_names), document_ids=ids)
    podium.write_letor(test, folder / "test.txt")
    (folder / "test.txt.features").write_text(json.dumps({"features": test.feature_names}))
    models = {
        LIN: podium.train(train, "listnet", valid=valid),
        TREES: podium.train(train, "lambdamart(rounds=10)", valid=valid),
    }
    for name, model in models.items():
        model.save(folder / f"{name[:-2]}.podium")
    rng = np.random.default_rng(3)
    documents = [{"id": f"d{k}", "title": WORDS[k % 8], "text": " ".join(rng.choice(WORDS, 6))} for k in range(40)]
    documents.append({"id": "bad", "title": NASTY, "text": f"shock {NASTY} shock"})
    podium.Index.create(folder / "my.index", documents).close()
    return Made(folder, podium.read_letor(folder / "test.txt"), models)


@pytest.fixture(scope="module")
def origin(made: Made) -> Iterator[str]:
    files = tuple(str(made.folder / name) for name in ("lin.podium", "trees.podium"))
    store, data, index = (str(made.folder / name) for name in ("feedback.db", "test.txt", "my.index"))
    with serving(models=files, data=data, index=index, store=store) as address:
        yield address


@pytest.fixture
def browser(origin: str) -> Iterator[Browser]:
    with Browser(origin=origin) as started:
        yield started


@pytest.fixture
def page(browser: Browser, origin: str) -> Iterator[Browser]:
    """A browser; afterwards nothing may have gone wrong in the page, and no text became markup."""
    browser.call("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
    yield browser
    browser.run("1")
    assert browser.problems == []
    assert browser.run("document.title") != "out"
    assert not browser.run("document.querySelector('main b, main img, main script') !== null")


def grid(page: Browser, selector: str) -> list[list[str]]:
    """What the cells of a table say, by row; only what can be seen."""
    cell = "(cell) => { const one = cell.cloneNode(true); one.querySelectorAll('.hidden').forEach((x) => x.remove());"
    cell += " return one.textContent.trim(); }"
    rows = f"document.querySelectorAll({json.dumps(selector + ' tbody tr')})"
    return list(page.run(f"[...{rows}].map((row) => [...row.children].map({cell}))"))


def cells(page: Browser, table: str, c: int) -> list[str]:
    return [row[c] for row in grid(page, f"#{table}")]


def tick(page: Browser, id: str) -> None:
    ticks = "[...document.querySelectorAll('[data-tick]')]"
    one = f"{ticks}.find((one) => one.dataset.tick === {json.dumps(id)})"
    page.run(f"{one}.focus(); {one}.click()")
    page.wait(f"new URLSearchParams(location.search).getAll('pair').includes({json.dumps(id)})")


def number(shown: str) -> float:
    return float(shown.replace("−", "-"))


def ranked(made: Made, model: str, q: int = 0) -> list[str]:
    part = made.query(q)
    return [part.document_name(row) for row in np.argsort(-made.models[model].score(part), kind="stable")]


def test_a_query_is_picked_and_its_ranking_shows_scores_odds_labels_and_ndcg(page: Browser, origin: str, made: Made):
    show(page, f"{origin}/?view=rank")
    name = made.data.query_name(0)
    links = "[...document.querySelectorAll('#picks a')]"
    page.run(f"{links}.find((one) => one.innerText === {json.dumps(name)}).click()")
    page.wait("document.querySelector('#ranking-0') !== null")
    part, model = made.query(0), made.models[LIN]
    assert cells(page, "ranking-0", 2) == ranked(made, LIN)[:25]
    assert [number(one) for one in cells(page, "ranking-0", 3)] == pytest.approx(
        np.sort(model.score(part))[::-1][:25].tolist(), abs=6e-4
    )
    best = int(np.argmax(model.score(part)))
    odds = model.distribution(part).summary()
    assert cells(page, "ranking-0", 4)[0].split()[0] == str(round(100 * odds.first[best]))
    assert cells(page, "ranking-0", 5)[0].replace("–", " ").split()[0] == str(odds.low[best])
    assert cells(page, "ranking-0", 6)[0] == f"{part.labels[best]:g}"
    ndcg = podium.evaluate(part, model.score(part), "ndcg@10").values[0, 0]
    assert text(page, "#ndcg").startswith(f"NDCG@10 {ndcg:.3f}")
    press(page, ".actions button")
    page.wait(f"document.querySelectorAll('#ranking-0 tbody tr').length === {part.n_documents}")
    page.run("history.back()")
    page.wait("document.querySelectorAll('#ranking-0 tbody tr').length === 25")


def test_two_models_are_side_by_side_with_moves(page: Browser, origin: str, made: Made):
    show(page, f"{origin}/?q={made.data.query_name(0)}&a={LIN}&b={TREES}")
    part = made.query(0)
    ranks = {
        key: dict(zip(part.document_ids, model.rank(part).tolist(), strict=True)) for key, model in made.models.items()
    }
    for moved, id in zip(cells(page, "ranking-1", 1), cells(page, "ranking-1", 2), strict=True):
        up = ranks[LIN][id] - ranks[TREES][id]
        assert moved.split("\n")[0].startswith("=" if up == 0 else f"{'▲' if up > 0 else '▼'} {abs(up)}")
    assert all(f"{key} 0." in text(page, "#ndcg") for key in (LIN, TREES))


def test_two_ticked_documents_are_explained_as_the_library_does(page: Browser, origin: str, made: Made):
    show(page, f"{origin}/?q={made.data.query_name(0)}&a={LIN}")
    order = ranked(made, LIN)
    for id in (order[0], order[4]):
        tick(page, id)
    page.wait("document.querySelector('#flip') !== null")
    found = explain(made.models[LIN], made.query(0), query=made.data.query_name(0), documents=(order[0], order[4]))
    assert text(page, "#h-side") == f"Why {order[0]} is above {order[4]}"
    expected = {name: share for name, share in zip(found.features, found.shares.tolist(), strict=True) if share}
    told = {row[0]: number(row[1]) for row in grid(page, ".side")}
    assert told.pop("difference") == pytest.approx(found.difference, abs=6e-5)
    told.pop("all others", None)
    assert told == pytest.approx(expected, abs=6e-5)
    assert found.how in text(page, ".side")
    assert f"{found.features[found.flip.feature]} of {order[0]}" in text(page, "#flip")
    assert page.run("document.activeElement.dataset.tick") == order[4]


def test_the_features_of_a_document_stand_beside_those_of_the_query(page: Browser, origin: str, made: Made):
    part = made.query(0)
    row = int(np.flatnonzero(np.isnan(part.features[:, 2]))[0])
    show(page, f"{origin}/?q={made.data.query_name(0)}&doc={part.document_name(row)}")
    rows = grid(page, ".side")
    assert [one[0] for one in rows] == list(part.feature_names)
    assert rows[2][1] == "missing"
    assert number(rows[0][1]) == pytest.approx(float(part.features[row, 0]), rel=1e-3)
    for l, one in enumerate(rows):
        expected = [f(part.features[:, l]) for f in (np.nanmin, np.nanmedian, np.nanmax)]
        assert [number(cell) for cell in one[3:]] == pytest.approx(expected, rel=1e-3)


def test_judging_by_keyboard_is_saved_when_it_says_so_and_can_be_undone(page: Browser, origin: str, made: Made):
    query, order = made.data.query_name(1), ranked(made, LIN, 1)
    mine = lambda: {one.id: one.grade for one in read_judgments(made.folder / "feedback.db", query)}  # noqa: E731
    judge_as(page, f"{origin}/?view=judge&q={query}", "ann")
    page.wait("document.activeElement.closest('tr') !== null")
    assert page.run("window.scrollY") == 0
    for key, id in (("3", order[0]), ("1", order[1])):
        assert page.run("document.activeElement.closest('tr').dataset.id") == id
        page.press(key)
        page.wait(f"document.querySelector('#status').innerText.startsWith('{id}: grade {key}, saved ')")
    assert mine() == {order[0]: 3.0, order[1]: 1.0}
    assert text(page, "#progress").startswith("2 of ")
    assert page.run("document.activeElement.closest('tr').dataset.id") == order[2]
    page.press("u")
    page.wait("document.querySelector('#status').innerText.includes('taken back, saved')")
    assert mine() == {order[0]: 3.0}
    assert page.run("document.activeElement.closest('tr').dataset.id") == order[1]
    page.press("k")
    assert page.run("document.activeElement.closest('tr').dataset.id") == order[0]
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.press("ArrowRight")
    page.press("Enter")
    page.wait("document.querySelector('#status').innerText.includes('grade 4, saved')")
    assert mine() == {order[0]: 4.0}


def judge_as(page: Browser, address: str, name: str) -> None:
    """Open a query to judge, under a name that was said before."""
    show(page, address)
    page.run(f"sessionStorage.setItem('podium-judge', {json.dumps(name)})")
    show(page, address)


def test_a_judge_says_who_grades_before_the_first_grade(page: Browser, origin: str, made: Made):
    query, order = made.data.query_name(4), ranked(made, LIN, 4)
    show(page, f"{origin}/?view=judge&q={query}")
    page.wait("document.activeElement.closest('tr') !== null")
    page.press("2")
    page.wait("document.activeElement.id === 'judge-name'")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    assert read_judgments(made.folder / "feedback.db", query) == []
    page.press("2")
    page.wait("document.activeElement.id === 'judge-name'")
    page.call("Input.insertText", text="eve")
    page.press("Enter")
    page.wait(f"document.querySelector('#status').innerText.startsWith('{order[0]}: grade 2, saved ')")
    assert [(one.id, one.who, one.grade) for one in read_judgments(made.folder / "feedback.db", query)] == [
        (order[0], "eve", 2.0)
    ]
    page.press("1")
    page.wait(f"document.querySelector('#status').innerText.startsWith('{order[1]}: grade 1, saved ')")


def test_a_grade_that_does_not_reach_the_service_is_not_shown_as_saved(page: Browser, origin: str, made: Made):
    judge_as(page, f"{origin}/?view=judge&q={made.data.query_name(2)}", "ann")
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.call("Network.emulateNetworkConditions", offline=True, **offline)
    page.wait("document.activeElement.closest('tr') !== null")
    page.press("2")
    page.wait("document.querySelector('#trouble').innerText.includes('not saved')")
    assert not page.run("document.querySelector('[aria-pressed=true].grades, .grades [aria-pressed=true]') !== null")
    press(page, "nav [data-view=rank]")
    page.wait("document.querySelector('#trouble button') !== null")
    page.call("Network.emulateNetworkConditions", offline=False, **offline)
    press(page, "#trouble button")
    page.wait("document.querySelector('#ranking-0') !== null && document.querySelector('#trouble').innerText === ''")
    assert all("ERR_INTERNET_DISCONNECTED" in one for one in page.problems)
    page.problems.clear()
    assert read_judgments(made.folder / "feedback.db", made.data.query_name(2)) == []


def test_measures_are_those_of_the_library_with_disagreements_of_judges(page: Browser, origin: str, made: Made):
    query, order = made.data.query_name(3), ranked(made, LIN, 3)
    show(page, f"{origin}/?view=judge&q={query}")
    for who, grade in (("ann", 4), ("bob", 1)):
        choose(page, "#who", who)
        page.wait(f"document.querySelector('#progress').innerText.includes('{who}')")
        assert "ann" not in text(page, "main td") or who == "ann"  # others' grades come after one's own
        press(page, f"tr[data-id] .grades button:nth-child({grade + 1})")
        page.wait("document.querySelector('#status').innerText.includes('saved ')")
        page.wait(f"document.querySelector('[data-others]').innerText.includes('ann') || '{who}' === 'ann'")
    show(page, f"{origin}/?view=measures&a={LIN}&b={TREES}")
    found = podium.evaluate(made.data, made.models[LIN].score(made.data), "ndcg@10").means()["ndcg@10"].value
    shown = page.run(
        "[...document.querySelectorAll('main table tbody tr')].slice(0, 1).map((row) => row.children[2].innerText)"
    )
    assert shown == [f"{found:.4f}"]
    names = page.run("[...document.querySelectorAll('#means tbody strong')].map((one) => one.innerText)")
    assert names == [LIN, TREES] * 3
    assert text(page, "#differences").count("significant") == 3
    assert len(cells(page, "queries", 0)) == made.data.n_queries
    assert cells(page, "disagreements", 1) == [order[0]]
    assert cells(page, "disagreements", 2) == ["ann 4, bob 1"]
    choose(page, "#grades", "judges")
    page.wait("document.querySelector('main .note').innerText.includes('judges')")
    press(page, "#queries a")
    page.wait("document.querySelector('#ranking-0') !== null")


def post(address: str, body: Any) -> Any:
    asked = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def test_an_experiment_is_started_watched_and_ended_on_the_page(page: Browser, origin: str, made: Made):
    show(page, f"{origin}/?view=experiments")
    assert "No experiments yet" in text(page, "#experiment-list")
    page.run("document.querySelector('#x-name').value = 'newer'")
    choose(page, "#x-candidate", TREES)
    page.run("document.querySelector('#new-experiment').requestSubmit()")
    page.wait("document.querySelector('[data-experiment=newer]') !== null")
    try:
        part = made.query(0)
        rows = [[None if np.isnan(value) else float(value) for value in row] for row in part.features]
        documents = [{"id": part.document_name(row), "features": values} for row, values in enumerate(rows)]
        shown = [post(f"{origin}/v1/rank", {"query": "q", "k": 5, "documents": documents}) for _ in range(3)]
        clicks = [{"kind": "click", "request": one["request"], "id": one["results"][0]["id"]} for one in shown[:2]]
        post(f"{origin}/v1/feedback", {"events": clicks})
        show(page, f"{origin}/?view=experiments")
        words = text(page, "[data-experiment=newer]")
        assert "interleave (team-draft), running since" in words
        assert f"{TREES} against {LIN}: no verdict yet: 3 of at least 400 pages." in words
        (row,) = grid(page, "#experiment-newer")
        assert (row[0], int(row[1]) + int(row[2]), row[3]) == ("3", 2, "1")
        low, high = (float(end.replace("−", "-")) for end in row[5].split(" to "))
        assert -1.0 <= low < 0.0 < high <= 1.0
        press(page, "[data-experiment=newer] .actions button")
        assert "Press again" in text(page, "[data-experiment=newer] .actions")
        press(page, "[data-experiment=newer] .actions button")
        page.wait("document.querySelector('[data-experiment=newer]').innerText.includes('(on request)')")
    finally:
        post(f"{origin}/v1/experiments/newer/end", {})


def test_an_experiment_that_cannot_start_says_why(page: Browser, origin: str):
    show(page, f"{origin}/?view=experiments")
    page.run("document.querySelector('#x-name').value = 'same'")
    choose(page, "#x-candidate", LIN)
    page.run("document.querySelector('#new-experiment').requestSubmit()")
    page.wait("document.querySelector('#trouble').innerText.includes('control and candidate are both lin@1')")
    assert all("422" in one for one in page.problems)
    page.problems.clear()


def test_bm25_can_be_either_side_of_an_experiment(page: Browser, origin: str):
    show(page, f"{origin}/?view=experiments")
    for side in ("#x-control", "#x-candidate"):
        assert page.run(f"[...document.querySelector('{side}').options].some((one) => one.value === 'bm25')")
    page.run("document.querySelector('#x-name').value = 'words'")
    choose(page, "#x-control", "bm25")
    choose(page, "#x-candidate", LIN)
    page.run("document.querySelector('#new-experiment').requestSubmit()")
    page.wait(f"document.querySelector('#trouble').innerText.includes('{LIN} was not trained on features')")
    assert all("422" in one for one in page.problems)
    page.problems.clear()


def test_a_search_shows_text_with_marks_and_never_as_markup(page: Browser, origin: str):
    show(page, f"{origin}/?q=shock")
    assert page.run("[...document.querySelectorAll('mark')].every((one) => one.innerText.toLowerCase() === 'shock')")
    assert page.run("document.querySelectorAll('mark').length") > 3
    show(page, f"{origin}/?q=onerror")
    assert text(page, "#ranking-0").count(NASTY) == 2
    page.run("document.querySelector('#query').value = 'nowhere'; document.querySelector('#ask').requestSubmit()")
    page.wait("document.querySelector('main').innerText.includes('Nothing was found')")


def test_where_keys_are_needed_the_page_asks_for_one_and_shows_what_its_role_may(
    browser: Browser, made: Made, tmp_path: Path
):
    lines = [
        f"{name} {role} {hashlib.sha256(f'key-{name}'.encode()).hexdigest()}"
        for name, role in (("shop", "rank"), ("ann", "judge"))
    ]
    (tmp_path / "keys").write_text("\n".join(lines))
    settings = {
        "models": (str(made.folder / "lin.podium"),),
        "data": str(made.folder / "test.txt"),
        "store": str(tmp_path / "f.db"),
    }
    with serving(keys=str(tmp_path / "keys"), **settings) as address:
        browser._allowed = (*browser._allowed, f"{address}/")
        query = made.data.query_name(0)
        for key, grades in (("wrong", None), ("key-shop", 0), ("key-ann", 25)):
            browser.open(f"{address}/?q={query}")
            browser.wait("document.querySelector('#key') !== null")
            browser.run(
                f"document.querySelector('#key').value = '{key}'; document.querySelector('.login').requestSubmit()"
            )
            if grades is None:
                browser.wait("(document.querySelector('#key-note')?.innerText ?? '').includes('not known')")
                continue
            browser.wait("document.querySelector('#ranking-0') !== null")
            assert browser.run("document.querySelectorAll('.grades').length") == grades
            browser.run("sessionStorage.clear()")
    assert browser.problems
    assert all("401" in one for one in browser.problems), browser.problems
    browser.problems.clear()


VIEWS = (
    "/",
    "/?view=rank",
    "/?view=judge",
    "/?view=experiments",
    "/?q={q}",
    "/?q={q}&a=lin@1&b=trees@1",
    "/?q={q}&pair={d0}&pair={d1}",
    "/?q={q}&doc={d0}",
    "/?view=judge&q={q}",
    "/?view=measures&b=trees@1",
    "/?q=shock",
)
NAMELESS = """
[...document.querySelectorAll('button, a[href], input, select, table, section, [role=region], [role=group]')]
  .filter((node) => !(node.getAttribute('aria-label') || node.innerText?.trim() || node.labels?.length || node.caption
    || document.getElementById(node.getAttribute('aria-labelledby'))?.innerText))
  .map((node) => node.outerHTML.slice(0, 120))"""
SMALL = """
[...document.querySelectorAll('main button, main input, nav a')].map((node) => [node.getBoundingClientRect(), node])
  .filter(([box]) => box.width && (box.width < 24 || box.height < 24))
  .map(([, node]) => node.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True)])
def test_every_view_fits_names_its_controls_and_has_targets_large_enough(
    page: Browser, origin: str, made: Made, width: int, dark: bool
):
    order = ranked(made, LIN)
    for view in VIEWS:
        show(
            page,
            origin + view.format(q=made.data.query_name(0), d0=order[0], d1=order[1]),
            width=width,
            height=800,
            dark=dark,
        )
        assert page.run("document.documentElement.scrollWidth") <= width, view
        assert page.run(NAMELESS) == [], view
        assert page.run(SMALL) == [], view
        assert axe_violations(page) == [], view


def test_the_page_is_small():
    assert sum(file.stat().st_size for file in PAGE.iterdir()) <= 110_000
    assert all(len(file.read_text().splitlines()) <= 300 for file in PAGE.iterdir())
