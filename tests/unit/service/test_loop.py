"""The loop, end to end with simulated people: feedback of weak models, unbiased training, an experiment, the swap."""

import numpy as np

import podium
from podium.clicks import weights
from podium.clicks.simulate import click_chance
from podium.propensities import propensities
from podium.service.feedback.feedback_export import click_log

PER_CALL = 100


class People:
    """Those who ask, look at rank k with probability 1/k, and click what they look at by its grade."""

    def __init__(self, served, data):
        self.served, self.data, self.rng, self.asked = served, data, np.random.default_rng(0), 0
        self.chance = {}
        chances = click_chance(data, noise=0.1)
        self.bodies = []
        for q in range(data.n_queries):
            rows, name = range(*data.offsets[q : q + 2]), data.query_name(q)
            ids = [data.document_name(row) for row in rows]
            self.chance |= {(name, id): chances[row] for id, row in zip(ids, rows, strict=True)}
            documents = [{"id": id, "features": data.features[row].tolist()} for id, row in zip(ids, rows, strict=True)]
            self.bodies.append({"query": name, "documents": documents})

    def visit(self, pages):
        for _ in range(pages // PER_CALL):
            chosen = self.rng.integers(len(self.bodies), size=PER_CALL)
            queries = [{**self.bodies[q], "user": f"u{self.asked + k}"} for k, q in enumerate(chosen)]
            self.asked += PER_CALL
            answers = self.served("POST", "/v1/rank", {"queries": queries}).json["answers"]
            events = []
            for query, answer in zip(queries, answers, strict=True):
                for k, one in enumerate(answer["results"], 1):
                    if self.rng.random() < self.chance[query["query"], one["id"]] / k:
                        events.append({"kind": "click", "request": answer["request"], "id": one["id"]})
            assert self.served("POST", "/v1/feedback", {"events": events}).status == 202


def test_feedback_of_weak_models_trains_one_that_people_prefer_and_that_takes_over(start, tmp_path):
    data, _ = podium.make_letor_like(60, (8, 8), n_features=6, seed=1)
    files = []
    for name, feature in (("weak", 0), ("other", 3)):
        seen = np.zeros_like(data.features)
        seen[:, feature] = data.features[:, feature]
        podium.train(data.with_features(seen, None), "regression").save(tmp_path / f"{name}.podium")
        files.append(str(tmp_path / f"{name}.podium"))
    store = tmp_path / "feedback.db"
    served = start(models=tuple(files), store=str(store), shelf=str(tmp_path / "shelf"))
    people, experiments = People(served, data), served.app.state.podium.experiments
    experiments._next_look = float("inf")  # the rules are looked at when the test says so

    split = {"name": "explore", "kind": "split", "candidate": "other"}  # two rankers tell position from relevance
    assert served("POST", "/v1/experiments", split).status == 201
    people.visit(2000)
    assert served("POST", "/v1/experiments/explore/end").json["preference"]["pages"] == 2000
    log = click_log(store)
    theta = propensities(log, "harvest")
    podium.train(weights(log, theta, data).data, "softmax").save(tmp_path / "new.podium")

    assert served("PUT", "/v1/models/weak", (tmp_path / "new.podium").read_bytes()).json["model"] == "weak@2"
    trial = {"name": "new", "kind": "interleave", "candidate": "weak@2", "control": "weak@1", "min_pages": 400}
    assert served("POST", "/v1/experiments", trial).status == 201
    for _ in range(10):  # whose list comes first is drawn by request; the verdict may be looked at any time
        people.visit(400)
        found = served("GET", "/v1/experiments/new").json
        if found["better"] is not None:
            break
    assert found["better"] == "candidate", found
    assert found["preference"]["interval"][0] > 0.0
    experiments._next_look = 0.0
    experiments.apply_rules()
    assert served("GET", "/v1/experiments/new").json["why"] == "decided"

    assert served("PUT", "/v1/aliases/default", {"model": "weak@2"}).json["old"] == "weak@1"
    assert served("POST", "/v1/rank", {**people.bodies[0]}).json["model"] == "weak@2"
    shelf = served.app.state.podium.models.current
    worth = [
        podium.evaluate(data, shelf.entries[key].model.score(data), "ndcg@10").means()["ndcg@10"].value
        for key in ("weak@1", "weak@2")
    ]
    assert worth[1] > worth[0] + 0.03
