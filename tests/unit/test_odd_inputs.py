"""Every public function that takes data, with every odd input: the numbers of the plain case, or an error in words."""

import functools
import io
import re
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

import podium
from odd_inputs import ODD
from odd_inputs.plain import DOCUMENTS, FEATURES, GROUP, QID, QUERIES, SCORES, WEIGHTS, X, Y
from podium.aggregation import rankings_from_frame
from podium.base.errors import PodiumError
from podium.clicks import clicks_from_frame
from podium.data import Dataset, to_frame
from podium.judgments import judgments_from_frame
from podium.sklearn import Ranker

METHOD = "prank(epochs=3)"
VALID = Dataset.from_arrays(X, Y, qid=QID)
WITH_NAMES = Dataset.from_arrays(X, Y, qid=QID, feature_names=FEATURES)
RUN = {str(q): {str(d): float(d * 7 % 5 + q) for d in range(1, 6)} for q in range(1, 5)}
QRELS = {str(q): {str(d): float(d * q % 3) for d in range(1, 6)} for q in range(1, 5)}


@functools.cache
def trained(method=METHOD, data=VALID):
    """A model, trained when a test first needs it."""
    return podium.train(data, method)


def named(method=METHOD):
    return trained(method, WITH_NAMES)


ODDS, NAMED_ODDS, TREES = "listnet(penalty=1)", "listmle(penalty=1)", "lambdamart(rounds=2,min_data_in_leaf=1)"


def numbers(model):
    return np.append(model.coefficients(), model.score(X))


def everything(data):
    grouped = data.grouped()
    return data.digest(), data.labels, grouped.offsets, list(map(str, data.query_ids)), data.document_ids


def drawn(found):
    return [(shape.at, shape.score) for shape in found.shapes]


def evaluated(found):
    return found.values, found.query_ids


def odds(found):
    summary = found.summary()
    return summary.first, summary.expected, found.offsets


def written(run, **options):
    file = io.BytesIO()
    podium.write_run(run, file, **options)
    return file.getvalue()


def compared(*data, **options):
    return [(outcome.method, outcome.values) for outcome in podium.compare(*data, **options).outcomes]


def runs(found):
    return [(name, system) for name, system in found["ndcg@10"].systems.items()]


def fitted(**changes):
    arguments = {"X": X, "y": Y, "qid": QID} | changes
    return Ranker(METHOD).fit(arguments.pop("X"), arguments.pop("y"), **arguments)


def fold_ids(folds):
    return [(list(fold.train.query_ids), list(fold.test.query_ids)) for fold in folds]


def only_features(frame):
    return nw.from_native(frame).drop("qid", "label").to_native()


def consensus(rankings):
    found = podium.aggregate(rankings, "borda")
    return found.scores, found.document_ids.tolist(), found.query_ids.tolist(), found.offsets


def judged(found):
    return found.counts(), found.item_names(), found.judges, found.grades


def clicked(log):
    pages = log.page_ids.tolist()
    return log.pairs, log.clicks, log.offsets, log.query_ids.tolist(), log.document_ids.tolist(), pages


ORDERS = [["1", "2", "3", "4"], ["2", "1", "4", "3"], ["4", "1", "2", "3"]]
WITH_FEATURES = {
    "train": lambda v: numbers(podium.train(v, Y, METHOD, qid=QID)),
    "train valid=": lambda v: numbers(podium.train(X, Y, METHOD, qid=QID, valid=(v, Y, QID))),
    "cross_validate": lambda v: evaluated(podium.cross_validate(v, Y, METHOD, qid=QID, folds=3)),
    "compare": lambda v: compared(v, METHOD, labels=Y, qid=QID),
    "Model.score": lambda v: trained().score(v, qid=QID),
    "Model.rank": lambda v: trained().rank(v, qid=QID),
    "Model.distribution": lambda v: odds(trained(ODDS).distribution(v, qid=QID)),
    "importance": lambda v: podium.importance(trained(), v, qid=QID),
    "shap": lambda v: podium.shap(trained(), v, qid=QID).values,
    "shap_interactions": lambda v: podium.shap_interactions(trained(TREES), v, qid=QID).values,
    "shapes": lambda v: drawn(podium.shapes(trained(), v, qid=QID)),
    "Dataset": lambda v: everything(Dataset.from_arrays(v, Y, qid=QID)),
    "Ranker.fit": lambda v: numbers(fitted(X=v).model_),
    "Ranker.predict": lambda v: fitted().predict(v, qid=QID),
    "Ranker.score": lambda v: fitted().score(v, Y, qid=QID),
}  # fmt: skip
WITH_LABELS = {
    "train": lambda v: numbers(podium.train(X, v, METHOD, qid=QID)),
    "train valid=": lambda v: numbers(podium.train(X, Y, METHOD, qid=QID, valid=(X, v, QID))),
    "cross_validate": lambda v: evaluated(podium.cross_validate(X, v, METHOD, qid=QID, folds=3)),
    "compare": lambda v: compared(X, METHOD, labels=v, qid=QID),
    "evaluate": lambda v: evaluated(podium.evaluate(v, SCORES, qid=QID)),
    "evaluate_grades": lambda v: podium.evaluate_grades(v, SCORES),
    "Dataset": lambda v: everything(Dataset.from_arrays(X, v, qid=QID)),
    "Ranker.fit": lambda v: numbers(fitted(y=v).model_),
    "Ranker.score": lambda v: fitted().score(X, v, qid=QID),
}
WITH_QUERIES = {
    "train": lambda v: numbers(podium.train(X, Y, METHOD, qid=v)),
    "train valid=": lambda v: numbers(podium.train(X, Y, METHOD, qid=QID, valid=(X, Y, v))),
    "cross_validate": lambda v: evaluated(podium.cross_validate(X, Y, METHOD, qid=v, folds=3)),
    "compare": lambda v: compared(X, METHOD, labels=Y, qid=v),
    "evaluate": lambda v: evaluated(podium.evaluate(Y, SCORES, qid=v)),
    "Model.score": lambda v: trained().score(X, qid=v),
    "Model.rank": lambda v: trained().rank(X, qid=v),
    "Model.distribution": lambda v: odds(trained(ODDS).distribution(X, qid=v)),
    "importance": lambda v: podium.importance(trained(), X, qid=v),
    "shap": lambda v: podium.shap(trained(), X, qid=v).values,
    "shap_interactions": lambda v: podium.shap_interactions(trained(TREES), X, qid=v).values,
    "shapes": lambda v: drawn(podium.shapes(trained(), X, qid=v)),
    "Dataset": lambda v: everything(Dataset.from_arrays(X, Y, qid=v)),
    "Ranker.fit": lambda v: numbers(fitted(qid=v).model_),
    "Ranker.predict": lambda v: fitted().predict(X, qid=v),
    "Ranker.score": lambda v: fitted().score(X, Y, qid=v),
}
WITH_GROUPS = {
    "train": lambda v: numbers(podium.train(X, Y, METHOD, group=v)),
    "cross_validate": lambda v: evaluated(podium.cross_validate(X, Y, METHOD, group=v, folds=3)),
    "compare": lambda v: compared(X, METHOD, labels=Y, group=v),
    "evaluate": lambda v: evaluated(podium.evaluate(Y, SCORES, group=v)),
    "Model.score": lambda v: trained().score(X, group=v),
    "Model.rank": lambda v: trained().rank(X, group=v),
    "Model.distribution": lambda v: odds(trained(ODDS).distribution(X, group=v)),
    "importance": lambda v: podium.importance(trained(), X, group=v),
    "shap": lambda v: podium.shap(trained(), X, group=v).values,
    "shap_interactions": lambda v: podium.shap_interactions(trained(TREES), X, group=v).values,
    "shapes": lambda v: drawn(podium.shapes(trained(), X, group=v)),
    "Dataset": lambda v: everything(Dataset.from_arrays(X, Y, group=v)),
    "Ranker.fit": lambda v: numbers(fitted(qid=None, group=v).model_),
    "Ranker.fit eval_group=": lambda v: numbers(fitted(eval_set=(X, Y), eval_group=v).model_),
}
WITH_FRAMES = {
    "refit": lambda v: numbers(podium.refit(named(TREES), v, decay=0.5)),
    "train": lambda v: numbers(podium.train(v, METHOD)),
    "train valid=": lambda v: numbers(podium.train(NAMED_DATA, METHOD, valid=v)),
    "cross_validate": lambda v: evaluated(podium.cross_validate(v, METHOD, folds=3)),
    "compare": lambda v: compared(v, METHOD),
    "evaluate": lambda v: evaluated(podium.evaluate(v, SCORES)),
    "reconcile": lambda v: podium.reconcile(v, SCORES, "ndcg@10[lightgbm]", "ndcg@10[sklearn]").values,
    "Model.score": lambda v: named().score(v),
    "Model.rank": lambda v: named().rank(v),
    "Model.distribution": lambda v: odds(named(NAMED_ODDS).distribution(v)),
    "calibration": lambda v: podium.calibration(named(NAMED_ODDS).distribution(NAMED_DATA), v).to_dict(),
    "importance": lambda v: podium.importance(named(), v),
    "shap": lambda v: podium.shap(named(), v).values,
    "shap_interactions": lambda v: podium.shap_interactions(named(TREES), v).values,
    "shapes": lambda v: drawn(podium.shapes(named(), v)),
    "model_card": lambda v: podium.model_card(named(), v),
    "explain": lambda v: podium.explain(named(), v, query=QID[0], documents=[0, QUERIES]).shares,
    "from_frame": lambda v: everything(podium.from_frame(v)),
    "read_data": lambda v: everything(podium.read_data(v)),
    "to_frame": lambda v: to_frame(podium.from_frame(v)).to_dict(),
    "split": lambda v: [everything(part) for part in podium.split(v)],
    "k_folds": lambda v: fold_ids(podium.k_folds(v, 3)),
    "check": lambda v: podium.check(v),
}
WITH_SCORES = {
    "evaluate": lambda v: evaluated(podium.evaluate(Y, v, qid=QID)),
    "evaluate_grades": lambda v: podium.evaluate_grades(Y, v),
    "reconcile": lambda v: podium.reconcile(VALID, v, "ndcg@10[lightgbm]", "ndcg@10[sklearn]").values,
    "Run.from_scores": lambda v: written(podium.Run.from_scores(VALID, v)),
    "Model.distribution": lambda v: odds(trained(ODDS).distribution(VALID, scores=v)),
}
DOORS = {
    "X": WITH_FEATURES,
    "y": WITH_LABELS,
    "qid": WITH_QUERIES,
    "group": WITH_GROUPS,
    "frame": WITH_FRAMES,
    "labels of a frame": WITH_FRAMES,
    "features of a frame": WITH_FRAMES
    | {
        "train beside arrays": lambda v: numbers(podium.train(only_features(v), Y, METHOD, qid=QID)),
        "Ranker.fit of a frame": lambda v: numbers(fitted(X=only_features(v)).model_),
    },
    "scores": WITH_SCORES,
    "document_ids": {
        "Dataset": lambda v: everything(Dataset.from_arrays(X, Y, qid=QID, document_ids=v)),
        "write_run": lambda v: written(
            podium.Run.from_scores(Dataset.from_arrays(X, Y, qid=QID, document_ids=v), SCORES)
        ),
    },
    "names": {
        "Dataset": lambda v: Dataset.from_arrays(X, feature_names=v).feature_names,
        "train": lambda v: podium.train(Dataset.from_arrays(X, Y, qid=QID, feature_names=v), METHOD).feature_names,
    },
    "query_weights": {
        "train": lambda v: numbers(
            podium.train(Dataset.from_arrays(X, Y, qid=QID, query_weights=v), "ranknet(penalty=1)")
        ),
    },
    "seed": {
        "train": lambda v: numbers(podium.train(X, Y, METHOD, qid=QID, seed=v)),
        "cross_validate": lambda v: evaluated(podium.cross_validate(X, Y, METHOD, qid=QID, folds=3, seed=v)),
        "compare": lambda v: compared(X, METHOD, labels=Y, qid=QID, seed=v),
        "compare_runs": lambda v: runs(podium.compare_runs(QRELS, {"a": RUN, "b": QRELS}, seed=v)),
        "split": lambda v: [everything(part) for part in podium.split(VALID, seed=v)],
        "k_folds": lambda v: fold_ids(podium.k_folds(VALID, 3, seed=v)),
        "make_letor_like": lambda v: everything(podium.make_letor_like(3, seed=v)[0]),
    },
    "seed of podium": {"train": lambda v: numbers(podium.train(X, Y, METHOD, qid=QID, seed=v))},
    "whole": {
        "k_folds": lambda v: fold_ids(podium.k_folds(VALID, v)),
        "cross_validate": lambda v: evaluated(podium.cross_validate(X, Y, METHOD, qid=QID, folds=v)),
        "make_letor_like": lambda v: everything(podium.make_letor_like(v)[0]),
        "evaluate_run": lambda v: evaluated(podium.evaluate_run(QRELS, RUN, max_documents=v)),
        "compare_runs": lambda v: runs(podium.compare_runs(QRELS, {"a": RUN, "b": QRELS}, max_documents=v)),
        "write_run": lambda v: written(podium.Run.from_dict(RUN), top=v),
    },
    "run": {
        "evaluate_run": lambda v: evaluated(podium.evaluate_run(QRELS, v)),
        "reconcile_run": lambda v: podium.reconcile_run(QRELS, v, "ndcg@10[lightgbm]", "ndcg@10[sklearn]").values,
        "compare_runs": lambda v: runs(podium.compare_runs(QRELS, {"a": v, "b": QRELS})),
    },
    "qrels": {
        "evaluate_run": lambda v: evaluated(podium.evaluate_run(v, RUN)),
        "reconcile_run": lambda v: podium.reconcile_run(v, RUN, "ndcg@10[lightgbm]", "ndcg@10[sklearn]").values,
        "compare_runs": lambda v: runs(podium.compare_runs(v, {"a": RUN, "b": QRELS})),
    },
    "sample_weight": {
        "Ranker.fit": lambda v: numbers(Ranker("ranknet", penalty=1.0).fit(X, Y, qid=QID, sample_weight=v).model_),
    },
    "document_weights": {
        "train": lambda v: numbers(
            podium.train(Dataset.from_arrays(X, Y > 0, qid=QID, document_weights=v), "ranknet(penalty=1)")
        ),
    },
    "preferences": {
        "train": lambda v: numbers(
            podium.train(Dataset.from_arrays(X, qid=QID, preferences=tuple(v)), "ranknet(penalty=1)")
        ),
        "Dataset.with_preferences": lambda v: everything(VALID.with_preferences(*v)),
    },
    "weights of voters": {
        "Rankings.from_orders": lambda v: consensus(podium.Rankings.from_orders([ORDERS], weights=v)),
        "Rankings.with_weights": lambda v: consensus(podium.Rankings.from_orders([ORDERS]).with_weights(v)),
    },
    "votes": {"rankings_from_frame": lambda v: consensus(rankings_from_frame(v))},
    "judgments": {"judgments_from_frame": lambda v: judged(judgments_from_frame(v))},
    "clicks": {"clicks_from_frame": lambda v: clicked(clicks_from_frame(v))},
    "orders": {"aggregate": lambda v: consensus(v)},
}
FRAME = pd.DataFrame({"qid": QID, "label": Y, **{name: X[:, c] for c, name in enumerate(FEATURES)}})
NAMED_DATA = podium.from_frame(FRAME)
PLAIN = {
    "X": X,
    "y": Y.tolist(),
    "qid": QID,
    "group": GROUP,
    **dict.fromkeys(("frame", "labels of a frame", "features of a frame"), FRAME),
    "scores": SCORES,
    "document_ids": DOCUMENTS,
    "names": FEATURES,
    "query_weights": WEIGHTS,
    "seed": 3,
    "seed of podium": 3,
    "whole": 3,
    "run": RUN,
    "qrels": QRELS,
    "orders": ORDERS,
    "sample_weight": [WEIGHTS[q - 1] for q in QID],
    "document_weights": [WEIGHTS[q % 3] for q in QID],
    "preferences": ([6, 12, 13], [0, 6, 1], [1.0, 0.75, 1.0]),
    "weights of voters": [1.0, 2.0, 0.5],
    "votes": pd.DataFrame(
        [(q, v, d, (d * v + q) % 5 + 1) for q in (2, 1) for v in (1, 2, 3) for d in (3, 1, 2, 4)],
        columns=["query", "voter", "document", "rank"],
    ),
    "judgments": pd.DataFrame(
        [(q, d, j, (q * d + j) % 3) for q in (2, 1) for d in (3, 1, 2) for j in (1, 2)],
        columns=["query", "document", "judge", "grade"],
    ),
    "clicks": pd.DataFrame(
        [(p, p % 2 + 1, d, k + 1, (p + d) % 2) for p in (3, 1, 2) for k, d in enumerate((2, 3, 1))],
        columns=["page", "query", "document", "position", "click"],
    ),
}


def same(a, b):
    """Whether two results are the same to the last bit."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        first, second = np.asarray(a), np.asarray(b)
        if first.shape != second.shape:
            return False
        return (first == second).all() if first.dtype == object else np.array_equal(first, second, equal_nan=True)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


BLIND = {
    "labels of a frame": (
        "Model.score",
        "Model.rank",
        "Model.distribution",
        "importance",
        "shap",
        "shap_interactions",
        "shapes",
    ),
    "features of a frame": ("evaluate", "reconcile"),
}
"""Functions that do not read a part of a frame: whatever it holds, their numbers are those of the plain case."""
KNOWN = {}


def expected(odd, door):
    """What the plain input gives, computed once."""
    plain = PLAIN[odd.argument]
    key = odd.argument, door, None if odd.like is None else odd.name
    if key not in KNOWN:
        try:
            KNOWN[key] = DOORS[odd.argument][door](plain if odd.like is None else odd.like(plain))
        except PodiumError as error:  # two queries cannot be three parts, whatever names them
            KNOWN[key] = str(error)
    return KNOWN[key]


def wrong(odd, door):
    """What is wrong with a cell of the table; None if nothing is."""
    words = None if door in BLIND.get(odd.argument, ()) else odd.words
    try:
        got = DOORS[odd.argument][door](odd.make(PLAIN[odd.argument]))
    except PodiumError as error:
        if door.startswith("Ranker"):  # scikit-learn says what it takes, also text of numbers, in its own words
            return None
        if words is None:
            return None if str(error) == expected(odd, door) else f"refused: {error}"
        return None if re.search(words, str(error)) else f"other words than {words!r}: {error}"
    except Exception as error:
        return f"raw {type(error).__name__}: {error}"
    if words is not None and not door.startswith("Ranker"):
        return "accepted"
    return None if same(got, expected(odd, door)) else f"other numbers: {got} for {expected(odd, door)}"


@pytest.fixture(autouse=True)
def _without_temperature(monkeypatch):
    """The temperature of odds has tests of its own, and would take nine tenths of the time here."""
    monkeypatch.setattr("podium.training.fit_temperature", lambda *_: None)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_an_odd_input_gives_the_numbers_of_the_plain_case_or_is_refused_in_words(odd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", podium.base.errors.PodiumWarning)
        warnings.simplefilter("ignore", DataConversionWarning)  # of scikit-learn, for labels in a column
        warnings.filterwarnings("ignore", "pandas.DataFrame with sparse columns")  # of scikit-learn too
        found = {door: words for door in DOORS[odd.argument] if (words := wrong(odd, door)) is not None}
    assert not found, "\n".join(f"{door}: {words}" for door, words in found.items())


WITHOUT_DATA = {
    *("METHODS", "Method", "method", "register_method", "Recipe", "Loss", "Metric", "Aggregator", "Odds", "Fold"),
    *("Cluster", "run_spec", "load", "import_model", "read_clicks", "read_folder", "read_letor", "read_qrels"),
    *("read_rankings", "read_run", "write_letor", "write_qrels", "write_cache", "write_clicks", "clicks"),
    "integrations",
    *("Engine", "TextRanker", "Index", "ClickLog", "Qrels", "__version__"),
    *("evaluate_with_machine", "rate"),  # judgments and battles, which have odd inputs of their own
}
"""Names that take no columns: settings, files, and what podium itself has made."""


def test_every_public_name_is_in_the_table_or_takes_no_columns():
    tried = {door.split(" ")[0].split(".")[0] for doors in DOORS.values() for door in doors}
    own = {"Preferences": "Dataset", "Rankings": "Rankings", "Model": "Model", "Run": "Run"}
    missing = [name for name in podium.__all__ if own.get(name, name) not in tried | WITHOUT_DATA]
    assert not missing, f"{missing}: add to DOORS what they take"
    assert len(ODD) >= 150


@pytest.mark.parametrize(
    "work",
    [
        lambda X, y, q: podium.train(X, y.iloc[::-1], METHOD, qid=q),
        lambda X, y, q: podium.train(X, y, METHOD, qid=q.iloc[::-1]),
        lambda X, y, q: trained().score(X.set_axis(["a", "b", "c"], axis=1), qid=q.iloc[::-1]),
        lambda X, y, q: podium.evaluate(y, pd.Series(SCORES).iloc[::-1], qid=q),
        lambda X, y, q: Dataset.from_arrays(X.to_numpy(), y, qid=q.iloc[::-1]),
        lambda X, y, q: Ranker(METHOD).fit(X, y.iloc[::-1], qid=q),
    ],
)
def test_one_index_in_two_orders_is_refused(work):
    with pytest.raises(PodiumError, match="the same index in another order"):
        work(pd.DataFrame(X), pd.Series(Y), pd.Series(QID))


def test_whole_numbers_are_names_of_columns():
    frame = pd.DataFrame(X)
    model = podium.train(frame, Y, METHOD, qid=QID)
    assert model.feature_names == ("0", "1", "2")
    assert same(model.score(frame), podium.train(X, Y, METHOD, qid=QID).score(X))
    assert same(model.score(frame[[2, 0, 1]], qid=QID), model.score(frame))
    whole = podium.from_frame(pd.DataFrame({0: QID, 1: Y, 2: X[:, 0]}), qid=0, label=1, features=[2])
    assert whole.feature_names == ("2",)
    with pytest.raises(PodiumError, match="two columns are called '0'"):
        podium.train(frame.rename(columns={1: "0"}), Y, METHOD, qid=QID)


@pytest.mark.parametrize("jobs", [0, -1, 1.5, float("nan"), True, "2"])
def test_jobs_are_a_whole_number(jobs):
    with pytest.raises(PodiumError, match="jobs must be a whole number of at least 1"):
        podium.compare(X, METHOD, labels=Y, qid=QID, jobs=jobs)


def test_no_seed_and_no_rows_are_refused():
    with pytest.raises(PodiumError, match="At least one seed"):
        podium.compare(X, METHOD, labels=Y, qid=QID, seed=())
    with pytest.raises(PodiumError, match="no document"):
        podium.importance(trained(), X[:0])


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: podium.evaluate(Y, SCORES, "ndcg@9223372036854775807", qid=QID), "at most 2\\^53"),
        (lambda: podium.evaluate(Y, SCORES, None, qid=QID), "metrics are names"),
        (lambda: podium.train(X, Y, [METHOD], qid=QID), "a method is a name"),
        (lambda: podium.aggregate(None), "got None"),
        (lambda: podium.aggregate(ORDERS, 5), "name of a method"),
        (lambda: podium.compare_runs(QRELS, [RUN, RUN]), "expected a dictionary: name → run"),
        (lambda: podium.split(VALID, (0.5, float("nan"))), "add up to 1"),
        (lambda: podium.explain(trained(), VALID, query=1, documents=[0, 6, 12]), "two different documents"),
        (lambda: podium.Rankings.from_orders([ORDERS], voters=["a", "a", "b"]), "'a'"),
        (lambda: podium.Rankings.from_orders([ORDERS], query_ids=["a", "b"]), "2 query ids for the orders of 1"),
        (lambda: podium.Rankings.from_entries([1], [1], [1, 2], ranks=[1, 2]), "as many of each"),
        (lambda: podium.ClickLog.from_pages([("q", ["a", None], [1])]), "page 1: row 1 has no document id"),
        (lambda: podium.ClickLog.from_pages([("q", ["a", "b"], [1.5])]), "page 1: clicks must be whole numbers"),
        (lambda: podium.ClickLog.from_pages([("q", ["a", "b"], [True, False])]), "clicks must be whole numbers"),
        (lambda: podium.ClickLog.from_pages([("q", "ab", [1])]), "document ids: expected one per row"),
    ],
)
def test_what_is_of_no_use_is_refused_in_words(work, words):
    with pytest.raises(PodiumError, match=words):
        work()


def test_ids_of_any_type_are_found_among_pages_and_labels():
    log = podium.ClickLog.from_pages([(1.0, [1, 2.0, "3"], [1]), ("1", [b"3", 1, 2], np.array([2.0]))])
    assert (log.n_queries, log.document_ids.tolist(), log.clicks.tolist()) == (1, ["1", "2", "3"], [1, 0, 0, 0, 1, 0])
    graded = podium.Rankings.from_entries([7, 7], [1, 1], [1, 2], ranks=[1, 2], labels={(7, 2): 3, ("7", 1): 0.5})
    assert graded.labels.tolist() == [0.5, 3]
