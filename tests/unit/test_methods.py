import pytest

from podium.algorithms import SingleFeature
from podium.base.errors import ParameterError, UnknownNameError
from podium.losses import LambdaRank, ListNet
from podium.methods import METHODS, method
from podium.metrics import NDCG
from podium.recipe import Recipe
from podium.scorers import MLP, Trees
from podium.solvers import LBFGS, Adam, Boosting
from podium.testing import linear_data
from podium.training import train
from podium.tuning import candidates


def test_lambdamart_is_trees_lambdarank_and_boosting():
    learner = method("lambdamart").learner
    loss = LambdaRank(metric=NDCG(30), damped=True, by_grade=0.5)
    assert (type(learner.scorer), learner.loss, type(learner.solver)) == (Trees, loss, Boosting)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_means_its_entry(name):
    assert method(name) == METHODS[name] or method(name).learner == METHODS[name].learner


@pytest.mark.parametrize("name", METHODS)
def test_every_page_has_the_fixed_headings(name):
    page = METHODS[name].page()
    for heading in ("Formula:", "Ties:", "Cost:", "Use it for:"):
        assert heading in page
    if METHODS[name].family != "baselines":
        assert "Reference:" in page


@pytest.mark.parametrize("name", METHODS)
def test_every_grid_names_parameters_of_its_learner(name):
    found = METHODS[name]
    assert all(found.learner.has_parameter(key) for key in found.grid)


def test_a_specification_changes_parts_and_parameters():
    assert method("listnet(penalty=0.5)").learner == Recipe(ListNet(), solver=LBFGS(penalty=0.5))
    assert method("listnet(scorer=mlp(hidden=[16]))").learner == Recipe(ListNet(), MLP((16,)), Adam())
    assert method("recipe(loss=listnet)").learner == Recipe(ListNet())
    assert method("single-feature").learner == SingleFeature()


def test_what_a_specification_names_is_not_tried():
    assert method("listnet").grid
    assert method("listnet(penalty=0.5)").grid == {}
    assert method("listnet(solver=lbfgs(penalty=0.5))").grid == {}
    assert method("listnet(tolerance=0.1)").grid == METHODS["listnet"].grid


def test_another_part_keeps_every_entry_of_the_grid_that_the_learner_has():
    penalties = METHODS["listnet"].grid["penalty"]
    assert method("listnet(solver=lbfgs)").grid == method("listnet(tolerance=0.1)").grid == {"penalty": penalties}
    assert method("listnet(transform=minmax)").grid == {"penalty": penalties}
    assert list(method("boltzrank(scorer=mlp)").grid) == ["alpha", "penalty"]
    assert method("lambdamart(learning_rate=0.3)").grid == METHODS["lambdamart"].grid
    assert list(method("lambdamart(scorer=linear)").grid) == ["transform"]  # which has no leaves


def test_of_another_kind_of_solver_its_own_steps_are_tried_as_well():
    """Steps of 1 are Nadaraya–Watson's; Adam would only be lost with them."""
    assert method("structrank(scorer=mlp)").grid == {"learning_rate": (Adam().learning_rate, 1.0, 5.0)}
    assert method("structrank(scorer=mlp,learning_rate=0.01)").grid == {}
    assert method("structrank(scorer=linear)").grid == {}  # L-BFGS finds its own


def test_a_network_is_tuned_as_a_linear_model_is():
    assert method("energy-ndcg(scorer=mlp)").grid == METHODS["energy-ndcg"].grid
    data = linear_data(12, 6)
    model = train(data, "listnet(scorer=mlp,epochs=2)", valid=linear_data(6, 6, seed=1))
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0]


@pytest.mark.parametrize("scorer", ["linear", "mlp", "trees", "nadaraya-watson"])
def test_every_grid_of_a_method_with_another_scorer_can_be_tried(scorer):
    for name, found in METHODS.items():
        if isinstance(found.learner, Recipe):
            changed = method(f"{name}(scorer={scorer})")
            assert all(type(learner.scorer) is type(changed.learner.scorer) for learner, _ in candidates(changed))


def test_an_unknown_method_suggests_near_ones():
    with pytest.raises(
        UnknownNameError, match=r"No method 'lambdamrt'\. Did you mean .*'lambdamart'.* See: podium methods"
    ):
        method("lambdamrt")


@pytest.mark.parametrize(
    "text", ["listnet(penalty=-1)", "listnet(penalty=x)", "random(num_leaves=3)", "listnet(scorer=qq)"]
)
def test_wrong_settings_are_refused(text):
    with pytest.raises(ParameterError):
        method(text)
