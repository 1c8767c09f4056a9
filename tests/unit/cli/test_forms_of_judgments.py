"""Commands take judgments and runs in every form, say what they took for what, and join texts and ids of queries."""

import json

import pytest

LABELS = "search_query,sku,rating\nred shoes,p1,3\nred shoes,p2,0\nrain coat,p9,2\n"
QUERIES = "id,text\nq1,Red Shoes\nq2,rain  coat\n"
RUN = "q1 Q0 p2 1 2.0 a\nq1 Q0 p1 2 1.0 a\nq2 Q0 p9 1 1 a\n"
OTHER = "q1 Q0 p1 1 2.0 b\nq1 Q0 p2 2 1.0 b\nq2 Q0 p8 1 1 b\n"
NDCG = f"{(1 / 1.584962500721156 + 1) / 2:.4f}"
SAID = "labels.csv: query = search_query, document = sku, grade = rating\n"
JOINED = "labels.csv: 2 queries found by text in queries.csv\n"


@pytest.fixture(autouse=True)
def files(tmp_path):
    texts = {"labels.csv": LABELS, "queries.csv": QUERIES, "a.run": RUN, "b.run": OTHER}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_texts_and_ids_are_joined_by_a_file_of_queries(podium):
    done = podium("evaluate", "labels.csv", "a.run", "--queries", "queries.csv", "-m", "ndcg@10")
    assert done.stdout.splitlines()[1].split()[:2] == ["ndcg@10", NDCG]
    assert done.stderr == SAID + JOINED + "queries: 2 judged, 2 in the run, 2 in both\n"


def test_without_it_the_error_says_what_differs_and_names_it(podium):
    done = podium("evaluate", "labels.csv", "a.run")
    assert done.exit_code == 1
    assert (
        "name queries by text, e.g. 'red shoes', the run by id, e.g. 'q1': give a file with both, --queries"
        in done.stderr
    )


def test_runs_are_compared_and_reconciled_against_a_table(podium):
    done = podium("compare", "labels.csv", "a.run", "b.run", "--queries", "queries.csv", "-m", "ndcg@10")
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["a.run", NDCG], ["b.run", "0.5000"]]
    assert done.stderr.startswith(SAID + JOINED)
    done = podium("reconcile", "labels.csv", "a.run", "--queries", "queries.csv", "--b", "trec", "--json")
    assert done.exit_code == 0
    assert done.stderr == SAID + JOINED


def test_columns_are_named_by_options(podium, files):
    (files / "odd.csv").write_text(LABELS.replace("search_query,sku,rating", "words,thing,stars"))
    words = ["--query", "words", "--document", "thing", "--grade", "stars"]
    done = podium("evaluate", "odd.csv", "a.run", "--queries", "queries.csv", "-m", "ndcg@10", *words)
    assert NDCG in done.stdout
    assert "query = " not in done.stderr
    assert "no column 'query'" in podium("evaluate", "odd.csv", "a.run").stderr
    (files / "odd_run.csv").write_text("words,thing,score\nred shoes,p2,2\nred shoes,p1,1\nrain coat,p9,1\n")
    assert NDCG in podium("evaluate", "odd.csv", "odd_run.csv", "-m", "ndcg@10", *words).stdout


def test_labels_of_a_consensus_are_judgments_for_every_command(podium, files):
    rows = ["red shoes,p1,ann,3", "red shoes,p1,bob,3", "red shoes,p2,ann,0", "rain coat,p9,ann,2"]
    (files / "votes.csv").write_text("\n".join(["query,product_id,rater,rating", *rows]))
    done = podium("evaluate", "votes.csv", "a.run")
    assert "podium judges consensus votes.csv -o labels.csv" in done.stderr
    assert ".csv, .json or .parquet" in podium("judges", "consensus", "votes.csv", "-o", "x.qrels").stderr
    for name in ("agreed.csv", "agreed.json", "agreed.parquet"):
        done = podium("judges", "consensus", "votes.csv", "-o", name)
        assert "votes.csv: query = query, document = product_id, judge = rater, grade = rating\n" in done.stderr
        done = podium("evaluate", name, "a.run", "--queries", "queries.csv", "-m", "ndcg@10")
        assert NDCG in done.stdout, name


def test_books_of_quepid_have_a_column_for_each_judge(podium, files):
    (files / "book.csv").write_text("query,docid,Ann B,bob@x.org\nred shoes,p1,3,3\nred shoes,p2,0,\nrain coat,p9,,2\n")
    done = podium("judges", "consensus", "book.csv", "-o", "agreed.json")
    assert "book.csv: query = query, document = docid, judges = Ann B, bob@x.org" in done.stderr
    assert json.loads((files / "agreed.json").read_text()) == {"red shoes": {"p1": 3, "p2": 0}, "rain coat": {"p9": 2}}


def test_runs_are_fused_from_tables_and_json_and_weights_learned_from_tables(podium, files):
    (files / "a.csv").write_text("qid,docno,score\nq1,p2,2\nq1,p1,1\nq2,p9,1\n")
    (files / "b.json").write_text(json.dumps({"q1": {"p1": 2, "p2": 1}, "q2": {"p8": 1}}))
    (files / "judged.csv").write_text("qid,docno,label\nq1,p1,3\nq1,p2,0\nq2,p9,2\n")
    done = podium("aggregate", "a.csv", "b.json", "--train", "judged.csv", "-o", "fused.csv")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("judged.csv: query = qid, document = docno, grade = label")
    done = podium("evaluate", "judged.csv", "fused.csv", "-m", "mrr")
    assert done.stdout.splitlines()[1].split()[1] == "1.0000"


def test_a_table_of_labelled_data_with_scores_is_still_data(podium, files):
    (files / "data.csv").write_text("qid,docid,label,x\n1,a,2,0.5\n1,b,0,0.1\n")
    (files / "scores.csv").write_text("1\n2\n")
    done = podium("evaluate", "data.csv", "scores.csv", "-m", "mrr")
    assert done.stdout.splitlines()[1].split()[:2] == ["mrr", "0.5000"]
    assert done.stderr == ""


def test_a_spelling_of_another_tool_says_what_it_became(podium):
    done = podium("evaluate", "labels.csv", "a.run", "--queries", "queries.csv", "-m", "nDCG@10")
    said = "nDCG@10 is ndcg@10[exp2,log2,ties=mean,empty=skip] here; as ir_measures computes it: --preset trec\n"
    assert done.stderr.startswith(said)
    done = podium("evaluate", "labels.csv", "a.run", "--queries", "queries.csv", "-m", "nDCG@10", "--preset", "trec")
    assert done.stderr.startswith(SAID)


def test_a_beir_folder_is_indexed_searched_judged_and_made_into_training_data(podium, files):
    documents = {"p1": "red shoes", "p2": "blue shoes in red", "p9": "rain coat"}
    lines = [json.dumps({"_id": id, "title": "", "text": text, "metadata": {}}) for id, text in documents.items()]
    (files / "corpus.jsonl").write_text("\n".join(lines))
    (files / "queries.jsonl").write_text('{"_id": "q1", "text": "red shoes"}\n{"_id": "q2", "text": "rain coat"}\n')
    (files / "qrels").mkdir()
    (files / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp9\t1\n")
    podium("index", "corpus.jsonl", "-o", "x.index")
    podium("search", "x.index", "--queries", "queries.jsonl", "--run", "bm25.run")
    done = podium("evaluate", ".", "bm25.run", "-m", "mrr")
    assert done.stdout.splitlines()[1].split()[1] == "1.0000"
    assert "qrels/test.tsv: the judgments of .; query = query-id, document = corpus-id, grade = score" in done.stderr
    done = podium("features", "x.index", "queries.jsonl", "labels.csv", "-o", "train.txt", "--set", "bm25")
    assert done.stderr.startswith(SAID + JOINED.replace("queries.csv", "queries.jsonl")), done.stderr
    assert [line[0] for line in (files / "train.txt").read_text().splitlines()] == ["3", "0", "2"]


def test_judgments_that_name_queries_by_text_are_the_queries_of_an_index_too(podium, files):
    texts = [("p1", "red shoes"), ("p2", "blue shoes"), ("p9", "rain coat")]
    (files / "docs.jsonl").write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts))
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    words = ("--set", "bm25", "-o")
    alone = podium("features", "my.index", "labels.csv", *words, "alone.parquet")
    assert SAID in alone.stderr
    (files / "same.csv").write_text("id,text\nred shoes,red shoes\nrain coat,rain coat\n")
    assert podium("features", "my.index", "same.csv", "labels.csv", *words, "both.parquet").exit_code == 0
    assert (files / "alone.parquet").read_bytes() == (files / "both.parquet").read_bytes()
    refused = podium("features", "my.index", "labels.csv", *words, "train.txt")
    assert "query id 'red shoes' has white space" in refused.stderr
    assert "compiling" not in refused.stderr
    assert not (files / "train.txt").exists()
    (files / "ids.csv").write_text("query_id,query,sku,rating\nq1,red shoes,p1,3\nq1,red shoes,p2,0\nq2,coat,p9,1\n")
    assert podium("features", "my.index", "ids.csv", *words, "ids.txt").exit_code == 0
    lines = (files / "ids.txt").read_text().splitlines()
    assert [line.split()[:2] + line.split()[-1:] for line in lines] == [
        ["3", "qid:q1", "p1"], ["0", "qid:q1", "p2"], ["1", "qid:q2", "p9"],
    ]  # fmt: skip
    (files / "ids.csv").write_text("query,sku,rating\nq1,p1,3\nq1,p2,0\n")
    refused = podium("features", "my.index", "ids.csv", *words, "ids.txt")
    assert refused.stderr == (
        "podium: ids.csv: names queries by id, such as 'q1', and has no column of their texts. Give a file of queries "
        "with id and text before it.\n"
    )
    (files / "ids.csv").write_text("query_id,query,sku,rating\nq1,shoes,p1,3\nq1,boots,p2,0\n")
    refused = podium("features", "my.index", "ids.csv", *words, "ids.txt")
    assert "ids.csv:3: query 'q1' has two texts, 'shoes' and 'boots'" in refused.stderr
    (files / "empty.json").write_text(json.dumps([{"query": None, "sku": "p1", "rating": 2}]))
    refused = podium("features", "my.index", "empty.json", *words, "ids.txt")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("podium: empty.json: row 0 has no query id")
    missing = podium("compare", "my.index", "--queries", "same.csv")
    assert missing.exit_code == 2
    assert "give one index with --queries FILE and --qrels FILE; or --qrels alone" in missing.stderr
