"""The scripts under examples/: each is run on little data, and on files as people have them."""

import csv
import importlib
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.text import read_documents

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "examples").glob("*.py") if path.stem != "common")
SIZES = {
    "translation_reranking": 25, "keyphrases": 20, "summaries": 60, "definitions": 20, "collaborative_filtering": 8,
    "metasearch": 15, "experts": 20,
}  # fmt: skip
OTHERS = ["definition_search", "cross_encoder"]  # which print no table


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a script with arguments and gives what it prints."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))

    def call(name, *arguments):
        importlib.import_module(name).main([str(one) for one in arguments])
        printed = capsys.readouterr().out
        if "--size" in arguments and len(arguments) == 2:
            assert set(means(printed)) == set(means(documented(name))), "docs/applications.md shows other rows"
        return printed

    return call


def means(text):
    """The numbers of the first table, by system."""
    rows = {}
    for line in text.splitlines():
        found = re.match(r"(\S.*?)\s{2,}(\d\.\d{4}.*)", line)
        if found and found[1] not in rows:
            rows[found[1]] = [float(x) for x in re.findall(r"\d\.\d{4}", found[2])]
    return rows


def documented(name):
    """What the page says that a script prints."""
    page = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
    return re.search(rf"\$ python examples/{name}\.py\n(.*?)```", page, re.DOTALL)[1]


def test_every_script_has_a_size_here_and_a_section_in_the_page():
    assert sorted([*SIZES, *OTHERS]) == SCRIPTS
    page = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
    for name in SCRIPTS:
        assert f"examples/{name}.py" in page


def test_held_out_scores_are_those_of_cross_validation(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    common = importlib.import_module("common")
    data, _ = podium.make_letor_like(25, seed=2)
    scores = common.held_out_scores(data, "listnet")
    expected = podium.cross_validate(data, "listnet", metrics="ndcg@10").values
    np.testing.assert_allclose(podium.evaluate(data, scores, "ndcg@10").values, expected)


def test_a_table_shows_means_and_p_against_the_baseline(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    rng = np.random.default_rng(0)
    base = rng.uniform(size=50)
    values = {"old": base, "new": base + 0.1 + 0.01 * rng.normal(size=50), "same": base}
    importlib.import_module("common").print_table({"MAP": values}, baseline="old")
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split() == ["old", f"{base.mean():.4f}"]
    assert rows[2].split() == ["new", f"{values['new'].mean():.4f}", "<.001"]
    assert rows[3].split() == ["same", f"{base.mean():.4f}", "1.000"]
    assert rows[4] == "50 queries; p against old, corrected by Holm"


def test_what_a_user_thinks_is_no_feature_of_the_users_own_items(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    script = importlib.import_module("collaborative_filtering")
    ratings = script.make_ratings(60, 120)
    user = int(np.isfinite(ratings).sum(axis=1).argmax())
    turned = ratings.copy()
    turned[user] = 6 - turned[user]
    one, two = (script.split_user(given, user, np.random.default_rng(0)) for given in (ratings, turned))
    for part in ("first", "valid", "whole", "test"):
        np.testing.assert_array_equal(getattr(one, part).features, getattr(two, part).features)
        np.testing.assert_array_equal(getattr(one, part).labels, 6 - getattr(two, part).labels)


def test_translations_are_chosen_better_than_by_the_decoder_and_never_better_than_by_an_oracle(run):
    found = means(run("translation_reranking", "--size", SIZES["translation_reranking"]))
    assert found["decoder's first"] < found["splitting"] <= found["oracle"]
    assert found["decoder's first"] < found["ranking-svm"] <= found["oracle"]


def test_n_best_lists_are_read_from_files(run, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    files = importlib.import_module("translation_reranking").make_lists(tmp_path, 12, size=8)
    text = run("translation_reranking", *files)
    assert "12 sentences, 96 translations, 9 features" in text
    with pytest.raises(SystemExit):
        run("translation_reranking", files[0])


def test_keyphrases_are_found_better_than_by_their_frequency(run):
    found = means(run("keyphrases", "--size", SIZES["keyphrases"]))
    assert found["tf·idf"][0] < found["ranking-svm"][0]
    assert found["tf·idf"][1] < found["ranking-svm"][1]


def test_keyphrases_are_read_from_an_archive(run, tmp_path):
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for k in range(9):
            archive.writestr(
                f"Some/docsutf8/{k}.txt", f"Learning to rank {k}\r\nWe study neural\n\t ranking, and more."
            )
            archive.writestr(f"Some/keys/{k}.key", "neural ranking\nabsent phrase\n")
    text = run("keyphrases", path)
    assert "9 documents" in text
    assert "hold 50% of the keyphrases" in text


def test_candidates_are_runs_without_function_words_or_punctuation(run, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    script = importlib.import_module("keyphrases")
    found = script.Candidates("Fast ranking of lists, ranking lists", script.Analyser())
    assert found.places == {"fast": [0], "fast rank": [0], "rank": [1, 4], "list": [3, 5], "rank list": [4]}
    assert found.features(script.Counter(list(found.places)), 1)[2].tolist() == pytest.approx(
        [2, 0, 0, 1 / 6, 4 / 6, 3 / 6, 1, 2 / 7, 2, 2, np.log(4)]
    )


def test_sentences_are_ranked_better_than_by_bm25_where_length_and_place_tell(run):
    text = run("summaries", "--size", SIZES["summaries"])
    assert means(text)["bm25"][0] < means(text)["gbrank"][0]
    assert re.search(r"by gbrank: \S", text)


def test_questions_are_read_from_files_and_the_place_of_a_sentence_is_then_not_used(run, tmp_path):
    rng = np.random.default_rng(0)
    for part in ("train", "valid", "test"):
        with open(tmp_path / f"{part}.csv", "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["qtext", "label", "atext"])
            for q in range(8):
                for k in range(6):
                    words = " ".join(rng.choice(["red", "green", "blue", "house", "tree"], 6))
                    rows.writerow([f"where is tree {q} ?", int(k < 2), words + (" tree" if k < 2 else "")])
    text = run("summaries", *(tmp_path / f"{part}.csv" for part in ("train", "valid", "test")))
    assert "8, 8 and 8 questions; 6.0 sentences each" in text
    assert "query:" not in text


def test_the_shortest_window_counts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    span = importlib.import_module("summaries").span
    assert span({"a", "b"}, ["a", "x", "x", "b", "a", "b"]) == 1.0
    assert span({"a", "b", "c"}, ["a", "x", "b"]) == pytest.approx(2 / 3)
    assert span({"a"}, ["x"]) == 0.0


def test_definitions_are_found_better_than_by_bm25_and_patterns(run, tmp_path, monkeypatch):
    found = means(run("definitions", "--size", SIZES["definitions"]))
    assert found["bm25"][0] < found["first pattern"][0] < found["ranking-svm"][0]
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    made = importlib.import_module("definitions").make_paragraphs(6)
    path = tmp_path / "paragraphs.jsonl"
    path.write_text("".join(json.dumps(vars(one)) + "\n" for one in made), encoding="utf-8")
    assert "6 terms" in run("definitions", path)


TEXTS = {
    "ranking": "Learning to rank is the task of learning to order documents from examples.\n\n"
    "The kernel is a function of two vectors. It measures how alike they are.\n",
    "notes": "Learning to rank is the task of learning to order documents from examples!\n\n"
    "Learning to rank is a lot to ask, he said, and we went home.\n\nThis is a note.\n",
}


def test_definitions_are_found_in_a_folder_of_texts_as_the_page_says(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / f"{name}.txt").write_text(text, encoding="utf-8")
    podium.Index.create("texts.index", read_documents("texts")).close()
    run("definition_search", "train", "--size", 40, "-o", "definitions.podium")
    found = run("definition_search", "find", "texts.index", "definitions.podium", "-o", "definitions.json")
    shown = run("definition_search", "show", "definitions.json", "--term", "Learning  to rank")
    page = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
    assert found in page
    for line in shown.splitlines():
        assert re.sub(r"-?\d\.\d{4}", "#", line) in re.sub(r"-?\d\.\d{4}", "#", page)
    store = json.loads((tmp_path / "definitions.json").read_text(encoding="utf-8"))
    assert list(store) == ["kernel", "learning to rank"], "the terms in order; neither This nor It"
    assert run("definition_search", "show", "definitions.json").split() == [
        "1",
        "kernel",
        "2",
        "learning",
        "to",
        "rank",
    ]
    with pytest.raises(SystemExit, match="but of learning to rank"):
        run("definition_search", "show", "definitions.json", "--term", "learn to rank")


def test_candidates_begin_with_a_term_and_go_to_the_end_of_their_paragraph(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    candidates = importlib.import_module("definition_search").candidates
    text = "Old news. A B-tree is a tree. It is wide.\n\n"
    text += "In short, a tree is the end. Gauss, a German, counted.\nThey are the"
    assert [(one.term, one.text) for one in candidates(text)] == [
        ("b-tree", "A B-tree is a tree. It is wide."),
        ("gauss", "Gauss, a German, counted. They are the"),
    ]


def test_experts_are_found_better_than_by_the_sum_of_their_documents(run, tmp_path):
    found = means(run("experts", "--size", SIZES["experts"]))
    assert found["combsum"][0] < found["ranking-svm"][0]


def test_experts_are_read_from_a_folder(run, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    documents, queries, grades = importlib.import_module("experts").make(12, persons=20)
    lines = {
        "documents.jsonl": [json.dumps(document) for document in documents],
        "queries.jsonl": [json.dumps({"id": id, "text": text}) for id, text in queries.items()],
        "qrels.txt": [f"{query} 0 {person} 1" for query, judged in grades.items() for person in judged],
    }
    for name, rows in lines.items():
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert f"{len(documents)} documents, 12 queries" in run("experts", tmp_path)


def test_items_that_a_user_has_not_rated_are_ranked(run, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    ratings = importlib.import_module("collaborative_filtering").make_ratings()
    for others, features in (("50", 52), ("all", 301)):
        first, heads, *rows = run("collaborative_filtering", "--user", 7, "--others", others).splitlines()
        assert (
            first
            == f"{np.isfinite(ratings[7]).sum()} rated items, {np.isnan(ratings[7]).sum()} others, {features} features"
        )
        assert heads.split() == ["rank", "mean", "rating", "rankboost", "ranking-svm", "prank", "its", "rating"]
        items = np.array([row.split()[1:5] for row in rows], int)
        assert np.isnan(ratings[7, items]).all()
        assert all(len(set(column)) == 10 for column in items.T)
        assert {row.split()[5] for row in rows} <= set("12345")
    with pytest.raises(SystemExit, match="no user 'x'"):
        run("collaborative_filtering", "--user", "x")


def test_items_are_ranked_better_for_a_user_than_by_their_mean_rating(run):
    found = means(run("collaborative_filtering", "--size", SIZES["collaborative_filtering"]))
    assert found["mean rating"][0] < found["ranking-svm"][0]


def test_ratings_are_read_from_a_file(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{u}\t{i}\t{rng.integers(1, 6)}\t{u * 100 + i}" for u in range(12) for i in range(60) if rng.random() < 0.8
    ]
    (tmp_path / "u.data").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "4 queries; p against mean rating" in run("collaborative_filtering", tmp_path / "u.data", "--size", 4)


def test_rankings_are_fused_by_votes_and_by_learning(run, tmp_path):
    rng = np.random.default_rng(0)
    words = [f"word{k}" for k in range(60)]
    with open(tmp_path / "documents.jsonl", "w", encoding="utf-8") as file:
        for d in range(80):
            one = {"id": f"d{d}", "title": " ".join(rng.choice(words, 3)), "text": " ".join(rng.choice(words, 30))}
            file.write(json.dumps(one) + "\n")
    with open(tmp_path / "queries.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": f"q{q}", "text": " ".join(rng.choice(words, 3))}) + "\n" for q in range(12))
    judged = [f"q{q} 0 d{d} 1\n" for q in range(12) for d in rng.choice(80, 10, replace=False)]
    (tmp_path / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    text = run("metasearch", tmp_path)
    assert "12 queries, 5 systems" in text
    assert set(means(text)) >= {"bm25", "bm25(fields=[title])", "borda", "combmnz", "mc4", "listnet", "ranking-svm"}


def test_the_standard_library_is_searched_unless_a_collection_is_given(run):
    found = means(run("metasearch", "--size", SIZES["metasearch"]))
    assert found["combmnz"][0] > 0.1


def test_a_cross_encoder_learns_by_a_loss_of_podium(run, tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "heat", "flow", "wing", "duck", "pond"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(words), num_labels=1, **size)
    transformers.BertForSequenceClassification(config).save_pretrained("tiny")
    transformers.BertTokenizerFast("vocab.txt").save_pretrained("tiny")
    judged = {"query": "heat flow", "texts": ["heat heat flow", "duck pond", "wing flow"], "grades": [2, 0, 1]}
    Path("judged.jsonl").write_text(json.dumps(judged) + "\n", encoding="utf-8")
    printed = run("cross_encoder", "judged.jsonl", "--model", "tiny", "--epochs", 20, "--rate", 0.01, "-o", "tuned")
    losses = [float(x) for x in re.findall(r"mean loss (\S+)", printed)]
    assert losses[-1] < 0.5 * losses[0]
    assert (tmp_path / "tuned" / "config.json").exists()
