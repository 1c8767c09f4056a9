"""podium index, search and features, and podium compare of an index."""

import json

import pytest

import podium as package


@pytest.fixture
def recipes(tmp_path):
    """Documents, queries and judgments; a document is relevant if the query's first word is in its title."""
    words = ["bread", "soup", "salad", "rice", "cake", "eggs", "beans", "fish"]
    rest = ["hot", "cold", "oven", "pan", "butter", "salt", "old", "new", "quick", "slow"]
    documents = [
        {
            "id": f"d{k}",
            "title": f"{words[k % 8]} {rest[k % 10]}",
            "text": f"{words[(3 * k + 1) % 8]} {rest[(7 * k) % 10]} x",
            "minutes": k,
        }
        for k in range(80)
    ]  # fmt: skip
    queries = [{"id": f"q{a}{b}", "text": f"{words[a]} {rest[b]}"} for a in range(8) for b in range(3)]
    qrels = [
        f"{q['id']} 0 {d['id']} 1" for q in queries for d in documents if q["text"].split()[0] in d["title"].split()
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    return tmp_path


def ok(result):
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.slow
def test_from_documents_to_a_model_and_back(podium, recipes):
    made = ok(podium("index", "docs.jsonl", "-o", "my.index"))
    assert "my.index: 80 documents" in made.stdout
    assert "searched   title, text" in made.stdout
    found = ok(podium("search", "my.index", "bread oven", "-k", "2"))
    assert found.stdout.splitlines()[0].startswith("  1. ")
    assert "*bread*" in found.stdout
    told = ok(podium("features", "my.index", "queries.jsonl", "qrels.txt", "-o", "train.txt"))
    assert "24 queries" in told.stderr
    assert "of the relevant documents" in told.stderr
    ok(podium("train", "train.txt", "--method", "listnet", "-o", "m.podium"))
    answer = ok(podium("search", "my.index", "bread oven", "--model", "m.podium", "--explain", "--json"))
    [first, *_] = json.loads(answer.stdout)
    assert {"rank", "id", "score", "document", "snippet", "first_stage", "features", "shares"} == set(first)
    assert "bread" in first["document"]["title"]
    ok(podium("search", "my.index", "--queries", "queries.jsonl", "--model", "m.podium", "--run", "run.txt"))
    judged = ok(podium("evaluate", "qrels.txt", "run.txt", "-m", "ndcg@5", "--json"))
    assert json.loads(judged.stdout)


@pytest.mark.slow
def test_an_index_is_added_to_and_deleted_from_but_never_replaced(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    again = podium("index", "docs.jsonl")
    assert again.exit_code == 1
    assert "exists already" in again.stderr
    twice = podium("index", "docs.jsonl", "--add")
    assert "'d0' is there already" in twice.stderr
    assert "80 documents" in ok(podium("index", "docs.jsonl", "--replace")).stdout
    assert "78 documents" in ok(podium("index", "--delete", "d3", "--delete", "d4")).stdout
    assert "no document 'd3'" in podium("index", "--delete", "d3").stderr
    (recipes / "more.jsonl").write_text('{"id": "new", "title": "quince"}\n')
    ok(podium("index", "more.jsonl", "--add"))
    assert "[new]" in ok(podium("search", "my.index", "quinces")).stdout


def test_what_cannot_be_is_said_in_a_line(podium, recipes):
    for words, says, code in [
        (("index",), "nothing to index", 2),
        (("index", "docs.jsonl", "--add", "--fields", "title"), "cannot be changed later", 2),
        (("search", "no.index", "x"), "no such index", 1),
        (("search", "docs.jsonl", "x"), "not a podium index", 1),
        (("search", "no.index"), "give a query", 2),
        (("search", "no.index", "x", "--explain"), "it needs --model", 2),
        (("search", "no.index", "--queries", "q"), "go together", 2),
        (("compare", "no.index", "--queries", "q"), "--qrels", 2),
    ]:
        result = podium(*words)
        assert result.exit_code == code, result.stderr
        assert says in result.stderr
        assert result.stderr.count("\n") == 1


def test_nothing_found_and_unknown_words_are_said(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    found = ok(podium("search", "my.index", "quark"))
    assert "not in any document: quark" in found.stderr
    assert "nothing found" in found.stderr
    (recipes / "q.tsv").write_text("a\tquark\nb\tbread\n")
    run = ok(podium("search", "my.index", "--queries", "q.tsv", "--run", "-", "-k", "3"))
    assert len(run.stdout.splitlines()) == 3
    assert "nothing found for 1 of 2 queries" in run.stderr


def test_filters_of_stored_fields(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    found = ok(podium("search", "my.index", "bread", "--where", "minutes<20", "--json"))
    assert [one["document"]["minutes"] < 20 for one in json.loads(found.stdout)]
    assert all(one["document"]["minutes"] < 20 for one in json.loads(found.stdout))


def test_the_second_page_of_a_search(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    whole = json.loads(ok(podium("search", "my.index", "bread", "-k", "3", "--json")).stdout)
    page = json.loads(ok(podium("search", "my.index", "bread", "-k", "2", "--offset", "1", "--json")).stdout)
    assert page == whole[1:]
    assert [one["rank"] for one in page] == [2, 3]
    assert "  2. " in ok(podium("search", "my.index", "bread", "-k", "1", "--offset", "1")).stdout
    (recipes / "q.tsv").write_text("b\tbread\n")
    refused = podium("search", "my.index", "--queries", "q.tsv", "--run", "-", "--offset", "1")
    assert "a run begins at rank 1" in refused.stderr


def test_the_query_language_is_read_if_asked_for(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    asked = ("search", "my.index", "+bread -minutes>=20", "--json")
    found = [one["document"] for one in json.loads(ok(podium(*asked, "--syntax")).stdout)]
    assert found
    assert all(one["minutes"] < 20 for one in found)
    assert len(json.loads(ok(podium(*asked)).stdout)) > len(found)
    assert "column 1: this quote is not closed" in podium("search", "my.index", '"bread', "--syntax").stderr
    (recipes / "q.tsv").write_text("b\t+bread -minutes>=20\n")
    run = ok(podium("search", "my.index", "--queries", "q.tsv", "--run", "-", "--syntax"))
    assert len(run.stdout.splitlines()) == len(found)


def test_the_words_of_an_expanded_query_are_explained(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    shown = ok(podium("search", "my.index", "bread", "-k", "1", "--by", "rm3(terms=2)", "--explain")).stdout
    assert "searched for: bread " in shown


def test_facets_order_likeness_and_suggestions(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    asked = ("search", "my.index", "bread", "-k", "100", "--json")
    answer = json.loads(ok(podium(*asked, "--facet", "minutes", "--sort", "-minutes")).stdout)
    minutes = [one["document"]["minutes"] for one in answer["results"]]
    assert minutes == sorted(minutes, reverse=True)
    assert {one["value"]: one["documents"] for one in answer["facets"]["minutes"]}.items() <= {
        m: minutes.count(m) for m in minutes
    }.items()
    id = answer["results"][0]["document"]["id"]
    like = json.loads(ok(podium("search", "my.index", "--like", id, "--json")).stdout)
    assert like
    assert id not in [one["id"] for one in like]
    assert "did you mean: bread" in ok(podium("search", "my.index", "braed")).stderr
    assert "minutes: " in ok(podium("search", "my.index", "bread", "--facet", "minutes")).stdout
    assert "Leave one of them out" in podium("search", "my.index", "bread", "--like", id).stderr


def test_learning_is_compared_with_the_first_stage(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    found = ok(
        podium("compare", "my.index", "--queries", "queries.jsonl", "--qrels", "qrels.txt", "--method", "listnet",
               "--set", "bm25,bm25(field=title),covered(field=title)", "-o", "out")
    )  # fmt: skip
    rows = {line.split("  ")[0]: line for line in found.stdout.splitlines()}
    assert {"first stage", "first stage, tuned", "listnet"} <= set(rows)
    assert (recipes / "out" / "report.html").exists()
    assert "measured against all judgments" in found.stdout


def test_a_catalogue_says_its_ids_what_is_searched_and_what_is_stored(podium, recipes):
    rows = ["sku,name,about,price,in_stock,photo,updated"]
    rows += [f"S{k},Tent {k},It stays dry,{k}.50,true,https://a.org/{k}.jpg,2024-01-0{k + 1}" for k in range(3)]
    (recipes / "shop.csv").write_text("\n".join(rows) + "\n")
    made = ok(podium("index", "shop.csv", "-o", "shop.index", "--title", "name")).stdout.splitlines()
    assert made[2:5] == [
        "ids        sku",
        "searched   name^3, about",
        "stored     price, in_stock (numbers); photo (URLs); updated (dates)",
    ]
    assert "1. *Tent* 0  [S0]" in ok(podium("search", "shop.index", "tents")).stdout
    ok(podium("index", "shop.csv", "-o", "shop.index", "--replace", "--id", "sku"))
    assert "No field 'skuu'" in podium("index", "shop.csv", "-o", "other.index", "--id", "skuu").stderr
    refused = podium("index", "shop.csv", "-o", "shop.index", "--add", "--title", "about")
    assert (refused.exit_code, "cannot be changed later" in refused.stderr) == (2, True)


def test_texts_that_are_not_searched_are_said_with_the_option_that_does(podium, recipes):
    (recipes / "papers.jsonl").write_text('{"id": 1, "title": "Heat", "text": "slabs", "author": "A. Smith"}\n')
    made = ok(podium("index", "papers.jsonl", "-o", "papers.index")).stdout
    assert "stored     author (text)\n           to search all texts: --fields 'title,text,author'\n" in made


def test_queries_without_a_judgment_are_left_out(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    (recipes / "few.txt").write_text("q00 0 d0 1\nq01 0 d8 0\n")
    words = ("features", "my.index", "queries.jsonl", "few.txt", "--set", "bm25", "-o", "few.letor")
    said = ok(podium(*words)).stderr
    assert "few.letor: 2 queries" in said
    assert "22 queries of 24 without a judgment left out; --keep-unjudged keeps them" in said
    assert "stored fields among the features: none; not minutes (not asked for)" in said
    assert {line.split()[1] for line in (recipes / "few.letor").read_text().splitlines()} == {"qid:q00", "qid:q01"}
    assert "few.letor: 24 queries" in ok(podium(*words, "--keep-unjudged")).stderr
    (recipes / "other.txt").write_text("other 0 d0 1\n")
    assert "no query has a judgment" in podium(*words[:3], "other.txt", *words[4:]).stderr
    full = ok(podium(*words[:4], "-o", "all.letor")).stderr
    assert "stored fields among the features: minutes" in full


@pytest.mark.slow
def test_features_of_documents_that_another_engine_showed(podium, recipes):
    ok(podium("index", "docs.jsonl", "-o", "my.index"))
    (recipes / "shown.run").write_text("q00 Q0 d3 1 9 x\nq00 Q0 gone 2 8 x\nq00 Q0 d7 3 7 x\nq11 Q0 d1 1 2 x\n")
    answer = {"query": "bread hot", "response": {"docs": [{"id": id} for id in ("d3", "gone", "d7")]}}
    (recipes / "log.jsonl").write_text(json.dumps(answer) + "\n")
    words = ("features", "my.index", "queries.jsonl", "qrels.txt", "--set", "bm25,lucene_bm25(field=title)")
    result = ok(podium(*words, "--candidates", "shown.run", "-o", "run.txt"))
    assert "22 queries without documents in shown.run left out" in result.stderr
    assert "run.txt: 2 queries, 3 documents, 2 features" in result.stderr
    assert "1 candidate of shown.run not in the index" in result.stderr
    data = package.read_data(recipes / "run.txt")
    assert data.document_ids.tolist() == ["d3", "d7", "d1"]
    ok(podium(*words, "--candidates", "log.jsonl", "-o", "log.txt"))
    logged = package.read_data(recipes / "log.txt")
    assert logged.features.tolist() == data.features[:2].tolist()
    (recipes / "other.run").write_text("zz Q0 d3 1 9 x\n")
    refused = podium(*words, "--candidates", "other.run")
    assert "none of 24 queries has documents here" in refused.stderr


@pytest.mark.parametrize(
    "by",
    ["rm3(documents=3)", "sdm", "bm25(variant=plus)", "passages(words=4,step=2)", "linear(of=[bm25,ql])", "hybrid"],
)
def test_every_first_stage_is_what_a_trained_model_starts_from(podium, recipes, by):
    for name in ("docs", "queries"):
        path = recipes / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            row["vector"] = [len(row["text"]), len(row["id"]), 1.0]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ok(podium("index", "docs.jsonl"))
    said = ok(podium("features", "my.index", "queries.jsonl", "qrels.txt", "--by", by, "--depth", "20")).stderr
    assert "24 queries" in said
    ok(podium("train", "train.txt", "-o", "m.podium"))
    model = package.Model.load("m.podium")
    assert model.info["towards"] == f"search_score(by={by})" in model.feature_names
    ok(podium("search", "my.index", "--queries", "queries.jsonl", "--model", "m.podium", "--run", "run.txt"))
    data = package.read_letor("train.txt")
    ranked = {}
    for line in (recipes / "run.txt").read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        ranked.setdefault(query, {})[document] = float(score)
    scores = model.score(data)
    for q, query in enumerate(data.query_ids):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        there = [ranked[query][id] for id in data.document_ids[rows]]
        assert there == pytest.approx(scores[rows].tolist(), rel=1e-4, abs=1e-4), "searched as trained"
    parquet = ok(podium("features", "my.index", "queries.jsonl", "qrels.txt", "--by", by, "-o", "train.parquet"))
    assert "24 queries" in parquet.stderr
    ok(podium("train", "train.parquet", "-o", "p.podium"))
    assert package.Model.load("p.podium").info["towards"] == model.info["towards"]


def test_other_first_stages_are_compared_with_what_is_learned_from_them(podium, recipes):
    from podium.evaluation.search.compare_search import METHODS, compare_search
    from podium.formats.trec.trec import read_qrels
    from podium.text import Index, read_queries

    ok(podium("index", "docs.jsonl"))
    index = Index.open("my.index")
    found = compare_search(index, read_queries("queries.jsonl"), read_qrels("qrels.txt"), by="rm3", folds=3, depth=20)
    assert {outcome.method for outcome in found.outcomes} == {"first stage", "first stage, tuned", *METHODS}
    assert all(outcome.info["towards"] == "search_score(by=rm3)" for outcome in found.runs("shrunk"))
    index.close()


def test_judged_documents_that_the_index_does_not_have_are_said(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    (recipes / "other.csv").write_text("query,product,grade\nq00,SKU-7,2\nq00,d0,1\nq01,SKU-8,1\n")
    said = ok(podium("features", "my.index", "queries.jsonl", "other.csv", "--set", "bm25")).stderr
    assert "2 of 3 judged documents not in my.index, e.g. 'SKU-7'. Do the ids of documents agree?" in said
    said = ok(podium("features", "my.index", "queries.jsonl", "qrels.txt", "--set", "bm25")).stderr
    assert "not in my.index" not in said


def test_a_search_without_results_says_what_may_be_the_reason(podium, recipes):
    ok(podium("index", "docs.jsonl"))
    said = ok(podium("search", "my.index", "bread", "--offset", "500")).stderr
    assert "nothing found after the first 500 documents." in said
    said = ok(podium("search", "my.index", "bread", "--where", "title=bread,cake")).stderr
    assert "nothing found." in said
    assert "--where: no document has title = bread,cake; several values are written FIELD in A,B." in said
    said = ok(podium("search", "my.index", "unheard")).stderr
    assert "nothing found." in said
    assert "--where" not in said
