"""Click logs from tables: impressions with clicks, or events."""

import pytest

from podium.base.errors import DataError
from podium.clicks import read_click_table
from podium.clicks.importers.ubi import import_ubi

pytest.importorskip("pyarrow")


def table(folder, text, name="clicks.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def pages(log):
    return [
        (log.query_ids[log.page_query[p]], log.document_ids[log.pairs[a:b]].tolist(), log.clicks[a:b].tolist())
        for p, (a, b) in enumerate(zip(log.offsets[:-1], log.offsets[1:], strict=True))
    ]


EXPECTED = [("hat", ["c"], [1]), ("red shoes", ["a", "b"], [0, 1]), ("red shoes", ["b", "a"], [0, 0])]


@pytest.mark.parametrize(
    "text",
    [
        "query,document,rank,clicked\nred shoes,a,1,0\nred shoes,b,2,1\nred shoes,b,1,0\nred shoes,a,2,0\nhat,c,1,1\n",
        "\ufeffSearch_Query;SKU;Position;Is_Click\r\nred shoes;a;0;false\r\nred shoes;b;1;true\r\nred shoes;b;0;no\r\n"
        "red shoes;a;1;\r\nhat;c;0;yes\r\n",
        "session_id,page_id,query,product_id,rank,clicked\n1,x,red shoes,b,2,1\n2,y,red shoes,a,2,0\n"
        "1,x,red shoes,a,1,0\n2,y,red shoes,b,1,0\n3,z,hat,c,1,1\n",
    ],
    ids=["plain", "other names, ranks from 0", "pages with ids, in any order"],
)
def test_a_row_for_each_document_shown(tmp_path, text):
    assert sorted(pages(read_click_table(table(tmp_path, text)))) == EXPECTED


def test_columns_of_other_names_are_named(tmp_path):
    path = table(tmp_path, "was,what,place,hit,arm\nred shoes,a,1,0,A\nred shoes,b,2,1,A\nhat,c,1,1,B\n")
    columns = {"query": "was", "document": "what", "position": "place", "click": "hit", "ranker": "arm"}
    log = read_click_table(path, columns=columns)
    assert pages(log) == EXPECTED[:2]
    assert [log.ranker_names[code] for code in log.rankers] == ["B", "A"]
    with pytest.raises(DataError, match=r"clicks\.csv: no column for the query; .* there are was, what.*--query"):
        read_click_table(path)
    with pytest.raises(DataError, match="no column 'wass'; there are was, what, place, hit, arm"):
        read_click_table(path, columns={**columns, "query": "wass"})


def test_a_table_of_events_has_what_was_shown_and_what_was_clicked(tmp_path):
    text = "page_id,query,document,position,action\n"
    text += "x,red shoes,a,1,impression\nx,red shoes,b,2,impression\nx,red shoes,b,2,click\n"
    text += "z,hat,c,1,view\nz,hat,c,1,click\n"
    assert pages(read_click_table(table(tmp_path, text))) == EXPECTED[:2]


def test_clicks_alone_are_refused_since_what_was_shown_is_not_known(tmp_path):
    with pytest.raises(DataError, match="clicks alone does not say what else was shown"):
        read_click_table(table(tmp_path, "query,document,rank\nhat,c,1\n"))
    with pytest.raises(DataError, match="without rows of documents shown"):
        read_click_table(table(tmp_path, "page,query,document,action\nx,hat,c,click\n"))
    with pytest.raises(DataError, match="without ids of pages"):
        read_click_table(table(tmp_path, "query,document,action\nhat,c,view\n"))


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("hat,c,1,often", r"clicks\.csv:3: a click is 0 or 1; got 'often'"),
        ("hat,c,x,1", r":3: a rank is a whole number"),
    ],
)
def test_a_refusal_names_the_line_of_the_table(tmp_path, row, says):
    with pytest.raises(DataError, match=says):
        read_click_table(table(tmp_path, f"query,document,rank,clicked\nhat,b,1,0\n{row}\n"))


def ubi(folder, *attributes):
    """A UBI log with a page for each of some attributes, of the query and of an event."""
    import json

    records = []
    for k, (of_query, of_event) in enumerate(attributes):
        records.append(
            {"query_id": f"s{k}", "user_query": "hat", "query_response_hit_ids": ["a"], "query_attributes": of_query}
        )
        records.append({"query_id": f"s{k}", "action_name": "click", "event_attributes": {**of_event, "object": {}}})
    return table(folder, "".join(json.dumps(record) + "\n" for record in records), "ubi.ndjson")


def rankers(imported):
    log = imported.log
    return None if log.rankers is None else [log.ranker_names[code] if code >= 0 else None for code in log.rankers]


def test_a_usual_attribute_of_ubi_names_the_ranker(tmp_path):
    path = ubi(tmp_path, ({"model": "m", "experiment": "A"}, {}), ({"model": "m", "experiment": "B"}, {}), ({}, {}))
    imported = import_ubi(path)
    assert imported.ranker == "query_attributes.experiment"
    assert rankers(imported) == ["A", "B", None]
    of_events = import_ubi(ubi(tmp_path, ({}, {"variant": 1}), ({}, {"variant": 2})))
    assert (of_events.ranker, rankers(of_events)) == ("event_attributes.variant", ["1", "2"])


def test_any_attribute_of_ubi_may_name_the_ranker(tmp_path):
    path = ubi(tmp_path, ({"experiment": "A", "own": {"arm": "x"}}, {}), ({"experiment": "B", "own": {"arm": "y"}}, {}))
    assert rankers(import_ubi(path, ranker="query_attributes.own.arm")) == ["x", "y"]
    with pytest.raises(DataError, match=r"no query and no event has a text or number as 'query_attributes\.own'"):
        import_ubi(path, ranker="query_attributes.own")
    assert rankers(import_ubi(ubi(tmp_path, ({}, {})))) is None


def test_an_attribute_that_differs_on_every_page_is_not_taken_for_the_ranker(tmp_path):
    path = ubi(tmp_path, *(({"experiment_id": f"id {k}"}, {}) for k in range(60)))
    assert import_ubi(path).ranker is None
