"""Data frames of pandas, polars or pyarrow: a row is a document, a column a feature.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"qid": [1, 1, 2], "label": [2, 0, 1], "bm25": [3.5, 1.0, 2.0]})
    >>> data = from_frame(frame)
    >>> data.n_queries, data.feature_names
    (2, ('bm25',))

Missing values of features become NaN. A missing label is a document that was not judged; a warning says how many are
missing. Query ids, document ids and weights must not be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles, dense
from podium.base.columns import float_numbers
from podium.base.errors import DataError
from podium.base.shown import Backend, frame_of
from podium.data.categories import coded
from podium.data.dataset import Dataset
from podium.data.query_values import category_number
from podium.data.table import Table

if TYPE_CHECKING:
    import narwhals as nw

DOCUMENT_IDS = ("document_id", "docid")
"""Columns that hold document ids by default."""
ROW_NUMBERS = ("query_weight", "document_weight", "row_weight", "base_score", "shown_at")
"""Columns that hold weights, scores that a model's own are added to, and positions, by default."""


def from_frame(
    frame: object,
    *,
    label: str | None = "label",
    qid: str | None = "qid",
    features: Sequence[str] | None = None,
    document_id: str | None = None,
    query_weight: str | None = None,
    document_weight: str | None = None,
    row_weight: str | None = None,
    base_score: str | None = None,
    shown_at: str | None = None,
    query_features: Sequence[str] = (),
    categorical: Sequence[str] | Mapping[str, Sequence[str]] = (),
    source: str | None = None,
) -> Table:
    """Make a dataset from a data frame, with rows in any order; a lazy frame is collected.

    `label`, `qid`, `document_id`, `query_weight`, `document_weight`, `row_weight`, `base_score` and `shown_at` name
    columns; None if there is none, but columns called document_id or docid, and of the other names, are used by
    default. The weight of a query is the same in all its rows; that of a document is how much its relevance counts;
    that of a row multiplies gradient and curvature of boosted trees, as LightGBM's weights do; a base score is another
    ranker's, to which the model adds its own; `shown_at` is the rank at which a document was shown, whose bias boosted
    trees leave out. `query_features` are columns that describe the query, the same in all its rows; words are
    categories. `features` are all other columns by default. `categorical` are features without an order, such as text:
    their values become codes, by falling frequency or as a mapping lists them.

    `source`: the name of the data in messages and reports.
    `frame`: a pandas, polars or Arrow frame with a row per document.
    """
    table = frame_table(frame, source=source)
    about = list(map(str, query_features))
    columns = [name for name in table.columns if features is not None or name not in about]
    for name in about:
        _need_column(name, list(table.columns), {"query_features": name}, source)
    asked = {"label": label, "qid": qid, "document_id": document_id, "query_weight": query_weight,
             "document_weight": document_weight, "row_weight": row_weight, "base_score": base_score,
             "shown_at": shown_at}  # fmt: skip
    roles, chosen = roles_of(columns, asked, features, source)

    def numbers(role: str) -> Array | None:
        name = roles[role]
        return None if name is None else column_numbers(complete(table[name], name, source), source)

    def labels() -> Array | None:
        name = roles["label"]
        return None if name is None else label_numbers(table[name], source)

    def ids(role: str) -> Any:
        name = roles[role]
        return None if name is None else complete(table[name], name, source).to_native()

    X, categories = category_matrix(table, chosen, categorical, source)
    data = Dataset.from_arrays(
        X,
        labels(),
        qid=ids("qid"),
        document_ids=ids("document_id"),
        feature_names=chosen,
        document_weights=numbers("document_weight"),
        source=source,
    )
    data = data if not categories else replace(data, categories=categories)
    weights, base = numbers("query_weight"), numbers("base_score")
    data, shown = data if base is None else data.with_base_scores(base), numbers("shown_at")
    data = data if shown is None else data.with_positions(shown)
    data = replace(data, row_weights=numbers("row_weight"))
    data = data if weights is None else replace(data, query_weights=weights_of_queries(data, weights))
    if not about:
        return data
    values = [_of_queries(data, name, _described(complete(table[name], name, source), source)) for name in about]
    return replace(data, query_features=np.column_stack(values), query_feature_names=tuple(about))


def roles_of(
    columns: list[str], asked: dict[str, str | None], features: Sequence[str] | None, source: str | None
) -> tuple[dict[str, str | None], list[str]]:
    """The column of each role, None if there is none, and the columns of features."""
    asked = {role: None if name is None else str(name) for role, name in asked.items()}
    features = None if features is None else list(map(str, features))
    free = [name for name in columns if features is None or name not in features]
    usual = {"document_id": DOCUMENT_IDS, **{name: (name,) for name in ROW_NUMBERS}}
    roles = {
        role: name or next((column for column in usual.get(role, ()) if column in free), None)
        for role, name in asked.items()
    }
    used = [name for name in roles.values() if name is not None]
    chosen = list(features) if features is not None else [name for name in columns if name not in used]
    for name in [*used, *chosen]:
        _need_column(name, columns, roles, source)
    if features is None and not chosen:
        raise DataError("no columns of features are left.", where=source)
    return roles, chosen


def to_frame(data: Table, *, backend: Backend = "pandas") -> Any:
    """Make a data frame with a row per document: qid, label, document_id and weights if there are any, and features.

    `backend`: pandas, polars or pyarrow.
    `data`: a Dataset, or a table whose rows are in any order.
    """
    return frame_of(columns_of(data), backend)


def columns_of(data: Table) -> dict[str, Any]:
    """The columns of `to_frame`, by name."""
    if data.score_offsets is not None:  # without them, document weights would be biased clicks
        raise DataError("frames have no column of score offsets. Write the data as a cache.", where=data.source)
    names = data.feature_names or tuple(f"f{c}" for c in range(1, data.n_features + 1))
    X = dense(data.features)
    columns: dict[str, Any] = {}
    if data.query_ids is not None:
        columns["qid"] = data.query_ids[data.query_index].tolist()
    if data.labels is not None:
        columns["label"] = data.labels
    if data.document_ids is not None:
        columns["document_id"] = data.document_ids.tolist()
    if data.query_weights is not None:
        columns["query_weight"] = data.query_weights[data.query_index]
    if data.document_weights is not None:
        columns["document_weight"] = data.document_weights
    if data.row_weights is not None:
        columns["row_weight"] = data.row_weights
    if data.base_scores is not None:
        columns["base_score"] = data.base_scores
    if data.positions is not None:
        columns["shown_at"] = data.positions
    twice = [name for name in names if name in columns]
    if twice:
        raise DataError(f"feature {twice[0]!r} has the name of another column; rename it.", where=data.source)
    columns |= {name: X[:, c] for c, name in enumerate(names)}
    for c, values in (data.categories or {}).items():
        columns[names[c]] = [None if np.isnan(code) else values[int(code)] for code in X[:, c].tolist()]
    return columns


def frame_table(frame: object, *, source: str | None = None) -> Any:
    """A data frame of pandas, polars or pyarrow as one of narwhals, in memory; column names are unique text."""
    import narwhals as nw

    try:
        table: Any = nw.from_native(frame)
        table = table.collect() if isinstance(table, nw.LazyFrame) else table
        names = list(table.columns)
    except TypeError:
        raise DataError(
            f"expected a pandas, polars or pyarrow frame; got {type(frame).__name__}.", where=source
        ) from None
    except Exception as error:  # of any library, at work on a lazy frame; or of columns that share a name
        raise DataError(f"this frame cannot be used: {first_line(error)}", where=source) from error
    nested = [name for name in names if isinstance(name, tuple)]
    if nested:
        raise DataError(f"column {nested[0]!r} has names on several levels. Join them into one text.", where=source)
    texts = list(map(str, names))
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise DataError(f"two columns are called {twice!r}. Rename one.", where=source)
    return table if texts == names else table.rename(dict(zip(names, texts, strict=True)))


def first_line(error: BaseException) -> str:
    """The first two lines of another library's error message."""
    words = (str(error).strip() or type(error).__name__).splitlines()
    return " ".join(word.strip() for word in words[:2])


def _need_column(name: str, columns: list[str], roles: dict[str, str | None], source: str | None) -> None:
    if name in columns:
        return
    role = next((role for role, column in roles.items() if column == name), "features")
    near = get_close_matches(name, columns, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are: {', '.join(columns[:12])}."
    option = f" or --{role}" if role in ("label", "qid") else ""
    raise DataError(f"no column {name!r} ({role}); {hint} Say which it is with {role}=…{option}.", where=source)


def complete(series: nw.Series[Any], name: str, source: str | None) -> nw.Series[Any]:
    """The column, which must have no missing value."""
    missing = np.flatnonzero(series.is_null().to_numpy())
    if len(missing):
        raise DataError(f"column {name!r}: row {missing[0]} has no value. Fill it or drop the row.", where=source)
    return series


def feature_matrix(table: nw.DataFrame[Any], names: list[str], source: str | None) -> Singles:
    """The named columns as a feature matrix."""
    X = np.empty((len(table), len(names)), np.float32)
    for c, name in enumerate(names):
        numbers = column_numbers(table[name], source, rounded=True)
        with np.errstate(over="ignore", invalid="ignore"):
            X[:, c] = numbers
        bad = np.flatnonzero(np.isinf(X[:, c]))
        if len(bad):
            raise DataError(
                f"column {name!r}: row {bad[0]} is {numbers[bad[0]]}; features are finite 32-bit numbers.", where=source
            )
    return X


def category_matrix(
    table: nw.DataFrame[Any], names: list[str], categorical: Iterable[str], source: str | None
) -> tuple[Singles, dict[int, tuple[str, ...]]]:
    """The named columns as a feature matrix, with codes for those of categories, and the categories."""
    import narwhals as nw

    asked = list(map(str, [categorical] if isinstance(categorical, str) else categorical))
    kept = categorical if isinstance(categorical, Mapping) else {}
    for name in asked:
        if name not in names:
            raise DataError(f"categorical: no feature {name!r} among {', '.join(names[:12])}.", where=source)
    X, categories = np.empty((len(table), len(names)), np.float32), dict[int, tuple[str, ...]]()
    plain = [c for c, name in enumerate(names) if name not in asked]
    X[:, plain] = feature_matrix(table, [names[c] for c in plain], source)
    for c in sorted(set(range(len(names))) - set(plain)):
        series, what = table[names[c]], f"value of column {names[c]!r}"
        missing = series.is_null().to_list()
        series = series.cast(nw.String) if series.dtype in (nw.Categorical, nw.Enum) else series
        values = [None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]
        X[:, c], categories[c] = coded(values, what=what, where=source, kept=kept.get(names[c]))
    return X, categories


def coded_frame(
    frame: object, categorical: Sequence[str] | Mapping[str, Sequence[str]]
) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """The frame with codes in place of categories, as `from_frame` makes them, and the categories of each column."""
    import narwhals as nw

    table = frame_table(frame)
    names = [name for name in map(str, categorical) if name in table.columns]
    X, categories = category_matrix(table.select(names), names, categorical, None)
    space = nw.get_native_namespace(table)
    series = [nw.new_series(name, X[:, c], nw.Float32, backend=space) for c, name in enumerate(names)]
    return table.with_columns(*series).to_native(), {names[c]: kept for c, kept in categories.items()}


def refuse_text(frame: Any) -> None:
    """Raise a clear error that names the columns of text or categories, which are no features."""
    import narwhals as nw

    table, kinds = frame_table(frame), (nw.String, nw.Categorical, nw.Enum)
    names = [name for name in table.columns if table[name].dtype in kinds or _holds_text(table[name])]
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise DataError(
            f"{'column' if len(names) == 1 else 'columns'} {', '.join(map(repr, names[:5]))}{more}: text or categories,"
            f" and features are numbers. If they are categories, say fit(…, categorical_feature={names[:5]}); else "
            "encode them, e.g. make_pipeline(make_column_transformer((OneHotEncoder("
            f"handle_unknown='ignore'), {names[:5]}), remainder='passthrough'), Ranker(…)), or leave them out: "
            f"X.drop(columns={names[:5]})."
        )


def _holds_text(series: nw.Series[Any]) -> bool:
    import narwhals as nw

    return series.dtype == nw.Object and any(isinstance(value, str) for value in series.to_list())


def column_numbers(series: nw.Series[Any], source: str | None, *, rounded: bool = False) -> Array:
    """A column as floats, NaN if a value is missing; large whole numbers are rounded if `rounded`, else refused."""
    import narwhals as nw

    if rounded and series.dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
    if not (series.dtype.is_numeric() or series.dtype in (nw.Boolean, nw.Object, nw.Unknown)):
        hint = (
            f" If its values are categories, say categorical=[{series.name!r}] (--categorical); if it describes the "
            f"query, query_features=[{series.name!r}] (--query-features); else encode it, leave it out of "
            f"features=[…], or name its role (document_id={series.name!r})."
        )
        words = f"column {series.name!r} holds {series.dtype}, not numbers."
        raise DataError(words + hint * rounded, where=source)
    return float_numbers(series.to_native(), f"value of column {series.name!r}", where=source)


def _described(series: nw.Series[Any], source: str | None) -> Array:
    """A column of query features as numbers; a word is a category."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return column_numbers(series, source)
    return np.array([category_number(str(value)) for value in series.to_list()], np.float64)


def _of_queries(data: Table, name: str, values: Array) -> Array:
    """The number of each query from those of its rows, which must be equal."""
    query_index, first = data.query_index, np.empty(data.n_queries)
    first[query_index] = values
    apart = np.flatnonzero((values != first[query_index]) & ~(np.isnan(values) & np.isnan(first[query_index])))
    if len(apart):
        query = data.query_name(int(query_index[apart[0]]))
        raise DataError(
            f"query {query}: its rows have different values of {name!r}, which is to describe the query.",
            where=data.source,
        )
    return first


def label_numbers(series: nw.Series[Any], source: str | None) -> Array:
    """A column of labels as floats, NaN if one is missing; all NaN if the column is empty, of whatever type."""
    if len(series) and bool(series.is_null().all()):
        return np.full(len(series), np.nan)
    return column_numbers(series, source)


def weighted_rows(data: Table, weights: Array) -> Table:
    """The data with weights of queries, if all rows of each query have the same, else with weights of rows."""
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise DataError(f"row {bad[0]}: the weight is {weights[bad[0]]}, no finite number.", where=data.source)
    first = np.empty(data.n_queries)
    first[data.query_index] = weights
    if (weights == first[data.query_index]).all():
        return replace(data, query_weights=first)
    return replace(data, row_weights=weights)


def weights_of_queries(data: Table, weights: Array) -> Array:
    """Weights of queries from weights of rows, which must be equal in all rows of a query."""
    query_index = data.query_index
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise DataError(f"row {bad[0]}: the query weight is {weights[bad[0]]}, no finite number.", where=data.source)
    first = np.empty(data.n_queries)
    first[query_index] = weights
    apart = np.flatnonzero(weights != first[query_index])
    if len(apart):
        query = data.query_name(int(query_index[apart[0]]))
        raise DataError(f"query {query}: its rows have different weights; a weight is a query's.", where=data.source)
    return first
