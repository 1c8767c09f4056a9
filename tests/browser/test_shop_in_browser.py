"""The page on a catalogue: titles, texts of queries, search by BM25 and by models, help, and a judge's view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import podium
from browser.devtools import CHROMIUM, Browser
from browser.serving import axe_violations, choose, press, serving, show, text, texts
from podium.data import Dataset
from podium.service.feedback.judging import read_judgments
from podium.text.collection.outdoor_shop import outdoor_shop
from podium.text.retrieval.candidates import dataset

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]

FEATURES = ("bm25", "bm25(field=title)", "covered_ratio(field=title)", "length(field=text)", "stored(field=rating)")


@dataclass(frozen=True)
class Shop:
    """What is served: products by id, texts of queries by id, the data, and models by name."""

    folder: Path
    products: dict[str, dict[str, object]]
    texts: dict[str, str]
    data: Dataset
    models: dict[str, podium.Model]

    def titles(self, model: str, query: str) -> list[str]:
        """Titles of a query's documents, best first."""
        part = self.data.select([[self.data.query_name(q) for q in range(self.data.n_queries)].index(query)])
        order = np.argsort(-self.models[model].score(part), kind="stable")
        return [str(self.products[part.document_name(row)]["title"]) for row in order]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """An index, data of its documents with 88 queries, a model that can search, one without odds, one of other data."""
    folder = tmp_path_factory.mktemp("shop")
    documents, queries, qrels = outdoor_shop()
    documents[0]["url"], documents[0]["bad"] = "https://example.org/P1000", "javascript:alert(1)"
    with closing(podium.Index.create(folder / "shop.index", documents)) as index:
        data = dataset(index, queries, qrels, features=FEATURES, depth=30)
    podium.write_letor(data, folder / "data.txt")
    (folder / "data.txt.features").write_text(json.dumps({"features": data.feature_names, "info": dict(data.info)}))
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    (folder / "guidelines.txt").write_text("Would you buy it?\n<b>3</b>: at once.")
    learn, valid, _ = podium.split(data)
    other = podium.make_letor_like(20, (8, 10), n_features=5, seed=1)[0]
    models = {
        "learned": podium.train(learn, "listnet", valid=valid),
        "oddless": podium.train(learn, "lambdamart(rounds=5)"),
        "other": podium.train(other, "regression"),
    }
    for name, model in models.items():
        model.save(folder / f"{name}.podium")
    products = {str(one["id"]): one for one in documents}
    return Shop(folder, products, {one["id"]: one["text"] for one in queries}, data.grouped(), models)


@pytest.fixture(scope="module")
def origin(shop: Shop) -> Iterator[str]:
    files = {name: str(shop.folder / file) for name, file in (
        ("data", "data.txt"), ("queries", "queries.jsonl"), ("index", "shop.index"), ("store", "feedback.db"),
        ("guidelines", "guidelines.txt"),
    )}  # fmt: skip
    with serving(models=tuple(str(shop.folder / f"{name}.podium") for name in shop.models), **files) as address:
        yield address


@pytest.fixture
def browser(origin: str) -> Iterator[Browser]:
    with Browser(origin=origin) as started:
        yield started


@pytest.fixture
def page(browser: Browser, origin: str) -> Iterator[Browser]:
    """A browser; afterwards nothing may have gone wrong in the page."""
    browser.call("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
    yield browser
    browser.run("1")
    assert browser.problems == []


def test_a_model_without_odds_ranks_and_one_line_says_that_it_has_no_probabilities(
    page: Browser, origin: str, shop: Shop
):
    show(page, f"{origin}/?q=q1&a=oddless@1")
    assert text(page, "#trouble") == ""
    assert texts(page, "#ranking-0 .document button")[0].startswith(shop.titles("oddless", "q1")[0])
    assert "oddless@1 has no probabilities: it saw no validation data" in text(page, "#intro")
    assert "P(first)" not in text(page, "#ranking-0 thead")
    show(page, f"{origin}/?q=q1&a=learned@1&b=oddless@1")
    assert "P(first)" in text(page, "#ranking-0 thead")
    assert "P(first)" not in text(page, "#ranking-1 thead")
    assert "oddless@1 has no probabilities" in text(page, "#intro")


def test_a_service_that_refuses_odds_is_asked_again_without(page: Browser, origin: str):
    page.open(f"{origin}/")
    script = """(async () => {
      const api = await import('/page/api.js'), asked = [];
      window.fetch = async (path, { body }) => {
        asked.push(JSON.parse(body).queries.map((one) => one.odds));
        const refused = asked.length === 1;
        return new Response(refused ? '{"detail": "no odds"}' : '{"answers": []}', { status: refused ? 422 : 200 });
      };
      await api.rank([{ model: "a", odds: true }, { model: "b", odds: false }]);
      return asked;
    })()"""
    assert page.run(script) == [[True, False], [False, False]]


def test_documents_have_titles_and_queries_their_text_with_the_id_beside(page: Browser, origin: str, shop: Shop):
    show(page, f"{origin}/?q=q1&a=learned@1")
    assert text(page, "#h-query") == f"“{shop.texts['q1']}” q1"
    titles = shop.titles("learned", "q1")
    names = page.run("[...document.querySelectorAll('#ranking-0 .document button')].map((one) => one.firstChild.data)")
    assert names == titles[:25]
    ids = [one.strip() for one in texts(page, "#ranking-0 .document .id")]
    assert [shop.products[id]["title"] for id in ids] == titles[:25]
    for k in (0, 1):
        page.run(f"document.querySelectorAll('[data-tick]')[{k}].click()")
        page.wait(f"new URLSearchParams(location.search).getAll('pair').length === {k + 1}")
    page.wait("document.querySelector('#flip') !== null")
    assert text(page, "#h-side") == f"Why {titles[0]} is above {titles[1]}"
    assert f"of {titles[0]} from" in text(page, "#flip")


def test_the_start_page_says_what_can_be_done_and_lists_the_worst_queries_first(page: Browser, origin: str, shop: Shop):
    show(page, f"{origin}/")
    assert texts(page, ".cards h2") == ["Search", "Look at rankings", "Judge", "Experiments"]
    assert "learned@1 (default)" in text(page, ".cards")
    assert page.run("document.activeElement.id") == "query"
    page.wait("document.querySelector('#picks thead').innerText.includes('NDCG')")
    values = podium.evaluate(shop.data, shop.models["learned"].score(shop.data), "ndcg@10")
    worst = np.argsort(values.values[0], kind="stable")
    shown = page.run("[...document.querySelectorAll('#picks tbody tr')].map((row) => row.children[2].innerText)")
    assert shown == [f"{value:.3f}" for value in values.values[0][worst][:50]]
    first = values.query_ids[int(worst[0])]
    assert text(page, "#picks tbody th") == f"{shop.texts[first]} {first}"
    assert page.run("document.querySelectorAll('#picks tbody tr').length") == 50
    press(page, "#more-queries")
    page.wait("document.querySelectorAll('#picks tbody tr').length === 88")
    press(page, "#picks [data-sort=Query]")
    page.wait("document.querySelector('#picks th').getAttribute('aria-sort') === 'ascending'")
    names = page.run("[...document.querySelectorAll('#picks tbody a')].map((one) => one.innerText)")
    assert names == sorted(names)
    page.run("document.querySelector('#filter').focus()")
    page.call("Input.insertText", text="TENT")
    tents = [id for id, words in shop.texts.items() if "tent" in words]
    page.wait(f"document.querySelectorAll('#picks tbody tr').length === {len(tents)}")
    assert page.run("[...document.querySelectorAll('#picks tbody a')].every((one) => one.innerText.includes('tent'))")


def test_keys_go_to_the_search_open_the_help_and_close_panels(page: Browser, origin: str):
    show(page, f"{origin}/?q=q1")
    page.press("/")
    assert page.run("document.activeElement.id") == "query"
    page.press("?")
    assert page.run("document.querySelector('dialog') === null")  # it is typed into the field
    page.run("document.activeElement.blur()")
    page.press("?")
    page.wait("document.querySelector('dialog#help[open]') !== null")
    for word in ("P(first)", "Rank interval", "Temperature", "Reverse Plackett–Luce", "NDCG@10"):
        assert word in texts(page, "#help dt")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    press(page, "[data-doc]")
    page.wait("document.querySelector('.side') !== null")
    page.press("Escape")
    page.wait("document.querySelector('.side') === null")
    assert page.run("document.querySelector('#ranking-0 thead th[title]') !== null")


def test_a_search_is_by_the_default_model_if_it_can_and_the_menu_has_only_those_that_can(
    page: Browser, origin: str, shop: Shop
):
    show(page, f"{origin}/?q=warm%20tent")
    assert page.run("[...document.querySelector('#a').options].map((one) => one.value)") == [
        "~bm25", "default", "learned@1", "oddless@1",
    ]  # fmt: skip
    assert page.run("document.querySelector('#a').value") == "default"
    assert "ranked by learned@1." in text(page, "#status")
    choose(page, "#b", "~bm25")
    page.wait("document.querySelector('#ranking-1') !== null")
    found = podium.Index.open(shop.folder / "shop.index").search("warm tent", 20)
    ids = page.run("[...document.querySelectorAll('#ranking-1 tr[data-id]')].map((row) => row.dataset.id)")
    assert ids == found.ids
    show(page, f"{origin}/?q=warm%20tent&a=other@1")  # it cannot search, so the default model does
    assert page.run("document.querySelector('#a').value") == "default"


def test_the_words_of_a_judged_query_show_its_labels_in_a_search(page: Browser, origin: str, shop: Shop):
    show(page, f"{origin}/?q={shop.texts['q2'].replace(' ', '%20')}&b=~bm25")
    assert "Label" in text(page, "#ranking-1 thead")
    press(page, "#intro + .note a")
    page.wait("document.querySelector('#h-query .id')?.innerText.trim() === 'q2'")


def test_a_judge_sees_fields_links_guidelines_and_the_scale_of_the_data(page: Browser, origin: str, shop: Shop):
    show(page, f"{origin}/?view=judge&q={shop.products['P1000']['title'].replace(' ', '%20')}")  # type: ignore[attr-defined]
    assert texts(page, "tr[data-id=P1000] .grades button") == ["0", "1", "2", "3"]
    assert text(page, ".guidelines") == "Would you buy it?\n<b>3</b>: at once."
    facts = text(page, "tr[data-id=P1000] .facts")
    assert all(f"{name}\n{shop.products['P1000'][name]}" in facts for name in ("brand", "category"))
    links = page.run("[...document.querySelectorAll('tr[data-id=P1000] a')].map((one) => one.href)")
    assert links == ["https://example.org/P1000"]
    page.run("sessionStorage.setItem('podium-judge', 'ann')")
    show(page, f"{origin}/?view=judge&q=q3")
    page.wait("document.activeElement.closest('tr') !== null")
    page.press("4")  # beyond the scale
    page.press("3")
    page.wait("document.querySelector('#status').innerText.includes('grade 3, saved')")
    assert [one.grade for one in read_judgments(shop.folder / "feedback.db", "q3")] == [3.0]
    show(page, f"{origin}/?view=judge")
    page.wait("document.querySelector('#picks') !== null")
    judged = "[...document.querySelectorAll('#picks tbody tr')].filter((row) => row.lastChild.innerText === '1')"
    assert page.run(f"{judged}.map((row) => row.querySelector('.id').innerText.trim())") == ["q3"]


def test_metrics_on_a_models_own_training_data_are_no_verdict(page: Browser, origin: str):
    script = """
      const ask = window.fetch;
      window.fetch = async (...all) => {
        const answer = await ask(...all);
        if (!String(all[0]).startsWith("/v1/measures")) return answer;
        return new Response(JSON.stringify({ ...(await answer.json()), on_training_data: [], notes: [] }));
      };"""  # as if the models had learned from other queries
    show(page, f"{origin}/?view=measures&a=learned@1&b=oddless@1")
    assert "learned@1" in text(page, "#own-data")
    assert "training data" in text(page, "#own-data")
    assert "significant" not in text(page, "main")
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
    try:
        show(page, f"{origin}/?view=measures&a=learned@1&b=oddless@1")
        assert page.run("document.querySelector('#own-data') === null")
        assert text(page, "#differences").count("significant") == 3
    finally:
        page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added)


def test_on_a_phone_a_row_shows_interval_and_grades_and_the_judges_query_stays_in_sight(page: Browser, origin: str):
    show(page, f"{origin}/?q=q1&a=learned@1", width=390, height=844)
    inside = """[...document.querySelectorAll('#ranking-0 tr[data-id] > *')].every((cell) => {
      const box = cell.getBoundingClientRect();
      return box.width > 0 && box.left >= 0 && box.right <= 390;
    })"""
    assert page.run(inside)
    assert page.run("[...document.querySelectorAll('.scroll')].every((one) => one.scrollWidth <= one.clientWidth)")
    for label in ("P(first)", "Rank interval", "Label", "Your grade"):
        assert page.run(f"document.querySelector('#ranking-0 td[data-label=\"{label}\"]') !== null")
    page.run("sessionStorage.setItem('podium-judge', 'bob')")
    show(page, f"{origin}/?view=judge&q=q5", width=390, height=844)
    assert page.run("window.scrollY") == 0
    page.run("document.querySelector('.grades button').focus({preventScroll: true})")
    for k in range(6):
        page.press("1")
        page.wait(f"document.querySelector('#progress').innerText.startsWith('{k + 1} of')")
    page.wait("window.scrollY > 300")
    box = page.run("(({top, bottom}) => [top, bottom])(document.querySelector('#h-query').getBoundingClientRect())")
    row = page.run("document.activeElement.closest('tr').getBoundingClientRect().top")
    assert 0 <= box[0] < box[1] <= row


def test_the_why_panel_shows_values_and_breaks_no_name(page: Browser, origin: str):
    for width in (1280, 390):
        show(page, f"{origin}/?q=q1&a=learned@1", width=width)
        for k in (0, 1):
            page.run(f"document.querySelectorAll('[data-tick]')[{k}].click()")
            page.wait(f"new URLSearchParams(location.search).getAll('pair').length === {k + 1}")
        page.wait("document.querySelector('#flip') !== null")
        cut = "[...document.querySelectorAll('.side .scroll')].every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.run(cut), width
        close = page.run(
            "(({width, height}) => [width, height])(document.querySelector('.side .close').getBoundingClientRect())"
        )
        assert min(close) >= 36
        press(page, ".side .close")
        page.wait("document.querySelector('.side') === null")


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1600, False)])
def test_every_view_of_the_shop_fits_and_help_and_dialogs_are_accessible(
    page: Browser, origin: str, width: int, dark: bool
):
    tents = "q=lightweight%20tent"
    for view in (
        "",
        "?q=q1",
        f"?{tents}",
        f"?{tents}&b=~bm25",
        "?view=judge&q=q9",
        "?view=measures",
        "?view=experiments",
    ):
        show(page, f"{origin}/{view}", width=width, dark=dark)
        assert page.run("document.documentElement.scrollWidth") <= width, view
        assert axe_violations(page) == [], view
    for view, script in (
        ("?q=q1", "document.querySelector('#help-button')"),
        ("?view=judge&q=q9", "document.querySelector('.grades button')"),
    ):
        show(page, f"{origin}/{view}", width=width, dark=dark)
        page.run(f"{script}.click()")
        page.wait("document.querySelector('dialog[open]') !== null")
        assert page.run("document.documentElement.scrollWidth") <= width, view
        assert axe_violations(page) == [], view
