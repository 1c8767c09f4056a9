"""One grammar for names: what prints is parsed back to an equal value, and what is wrong is said in words."""

import dataclasses
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import Named, param, read, register, split_call
from podium.learner import Learner
from podium.losses import Loss, RankNet
from podium.methods import METHODS, method
from podium.metrics import Metric
from podium.scorers import MLP, Scorer
from podium.solvers import LBFGS, SGD, Adam, Solver
from podium.testing.examples import variants
from podium.transforms import Transform

KINDS = [Loss, Scorer, Solver, Transform, Learner]
VALUES = [value for kind in KINDS for cls in kind.catalogue().values() for value in variants(cls)]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_repr_parses_to_an_equal_value(value):
    kind = next(kind for kind in KINDS if isinstance(value, kind))
    again = kind.parse(repr(value))
    assert again == value
    assert repr(again) == repr(value)
    assert hash(again) == hash(value)


@pytest.mark.parametrize("value", [value for value in VALUES if dataclasses.fields(value)], ids=repr)
def test_fields_cannot_be_assigned(value):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(value)[0].name, None)


@pytest.mark.parametrize("name", Metric.catalogue())
def test_metrics_parse_too(name):
    metric = Metric.parse(name)
    assert Metric.parse(repr(metric)) == metric
    if metric.conventions.cuts:
        assert Metric.parse(f"{name}@7") != metric
        assert Metric.parse(repr(Metric.parse(f"{name}@7"))) == Metric.parse(f"{name}@7")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_value_that_parses(name):
    assert method(repr(METHODS[name].learner)).learner == METHODS[name].learner


def test_only_what_differs_from_the_default_is_printed():
    assert repr(RankNet()) == "ranknet"
    assert repr(RankNet(sigma=2)) == "ranknet(sigma=2.0)"
    assert repr(MLP(hidden=(64, 32), activation="relu")) == "mlp(hidden=[64,32],activation=relu)"
    assert repr(SGD(patience=None)) == "sgd(patience=none)"


def test_numbers_of_numpy_print_as_plain_ones():
    assert repr(Adam(learning_rate=np.float64(0.5), epochs=np.int64(7))) == "adam(learning_rate=0.5,epochs=7)"
    assert repr(MLP(hidden=[np.int64(3)])) == "mlp(hidden=[3])"


@pytest.mark.parametrize(
    "text",
    [
        "ranknet(sigma=2.0)",
        " ranknet ( sigma = 2.0 ) ",
        "ranknet(sigma=2)",
        "ranknet(sigma=2e0)",
        "ranknet(sigma=2.0,)",
    ],
)
def test_spaces_and_spellings_of_numbers_do_not_matter(text):
    assert Loss.parse(text) == RankNet(sigma=2.0)


@pytest.mark.parametrize(
    ("kind", "name", "near"),
    [
        (Loss, "lamdarank", "lambdarank"),
        (Loss, "RankNett", "ranknet"),
        (Scorer, "tree", "trees"),
        (Solver, "lbgfs", "lbfgs"),
        (Transform, "z-score", "zscore"),
        (Metric, "ncdg", "ndcg"),
    ],
)
def test_an_unknown_name_suggests_near_ones(kind, name, near):
    with pytest.raises(UnknownNameError, match=f"No {kind.kind} .*Did you mean .*'{near}'") as caught:
        kind.parse(name)
    assert near in caught.value.near


def test_a_name_like_no_other_lists_what_is_known():
    with pytest.raises(UnknownNameError, match=r"No scorer 'qqq'\. Known: .*linear, mlp, .*trees"):
        Scorer.parse("qqq")


def test_an_unknown_parameter_suggests_near_ones():
    with pytest.raises(UnknownNameError, match=r"No parameter of ranknet 'sgima'\. Did you mean 'sigma'\?"):
        Loss.parse("ranknet(sgima=1)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no name"),
        ("(sigma=1)", "has no name"),
        ("ranknet(", "the bracket after 'ranknet' is not closed"),
        ("ranknet(sigma=1", "the bracket after 'ranknet' is not closed"),
        ("ranknet(sigma=1))", "a bracket is closed that was not opened"),
        ("ranknet(sigma=[1)", "a bracket is not closed"),
        ("ranknet(1)", "expected parameter=value, got '1'"),
        ("ranknet(sigma)", "expected parameter=value, got 'sigma'"),
        ("ranknet(sigma=1,sigma=2)", "sigma is given twice"),
        ("ranknet(sigma=much)", "ranknet: sigma must be a number; got 'much'"),
        ("ranknet(sigma=0)", "ranknet: sigma must be above 0; got 0.0"),
        ("ranknet(sigma=nan)", "ranknet: sigma must be a finite number; got nan"),
        ("ranknet(sigma=inf)", "ranknet: sigma must be a finite number; got inf"),
        ("ranknet(normalise=perhaps)", "ranknet: normalise must be true or false; got 'perhaps'"),
    ],
)
def test_what_is_wrong_is_said_in_words(text, words):
    with pytest.raises(ParameterError) as caught:
        Loss.parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RankNet(sigma="1"), "ranknet: sigma must be a finite number; got '1'"),
        (lambda: RankNet(sigma=True), "ranknet: sigma must be a finite number; got True"),
        (lambda: RankNet(sigma=-1), "ranknet: sigma must be above 0; got -1"),
        (lambda: RankNet(normalise=1), "ranknet: normalise must be true or false; got 1"),
        (lambda: LBFGS(iterations=2.5), "lbfgs: iterations must be a whole number; got 2.5"),
        (lambda: LBFGS(iterations=0), "lbfgs: iterations must be at least 1; got 0"),
        (lambda: LBFGS(patience="x"), "lbfgs: patience must be a whole number or none; got 'x'"),
        (lambda: LBFGS(patience=0), "lbfgs: patience must be at least 1; got 0"),
        (
            lambda: MLP(activation="step"),
            "mlp: activation must be one of tanh, relu, elu, selu, gelu, silu; got 'step'",
        ),
        (lambda: MLP(hidden=3), "mlp: hidden must be a list, each a whole number; got 3"),
        (lambda: Scorer.parse("trees(feature_fraction=1.5)"), "trees: feature_fraction must be at most 1; got 1.5"),
        (
            lambda: Scorer.parse("mlp(activation=step)"),
            "mlp: activation must be one of tanh, relu, elu, selu, gelu, silu; got 'step'",
        ),
        (lambda: method("recipe(scorer=trees(num_leaves=1))"), "trees: num_leaves must be at least 2; got 1"),
        (lambda: METHODS["ranknet"].learner.__class__(loss=MLP()), "recipe: loss must be a loss; got mlp"),
    ],
)
def test_wrong_types_and_ranges_are_refused_in_words(make, words):
    with pytest.raises(ParameterError) as caught:
        make()
    assert words in str(caught.value)


def test_lists_nest_in_calls():
    assert split_call("a(b=c(d=1,e=[2,3]),f=4)") == ("a", {"b": "c(d=1,e=[2,3])", "f": "4"})
    assert read("[64,32]", tuple[int, ...], "x") == (64, 32)
    assert read("none", int | None, "x") is None


def test_two_things_cannot_have_one_name():
    class Thing(Named):
        kind = "test thing"
        home = "podium.base.registry"

    def make(module):
        return register(type("One", (Thing,), {"__module__": module, "__annotations__": {}, "name": "one"}))

    made = make("somewhere")
    assert Thing.catalogue() == {"one": made}
    with pytest.raises(ParameterError, match="Two test things are called 'one': somewhere and elsewhere"):
        make("elsewhere")


def test_exclusive_and_inclusive_bounds():
    @register
    class Bounded(Scorer):
        low: float = param(default=0.5, above=0, below=1)
        high: float = param(default=0.5, least=0, most=1)
        name = "bounded-for-a-test"

    try:
        assert Bounded(high=1) == Bounded(high=1.0)
        assert Bounded(high=0).high == 0.0
        for wrong, words in ((0, "above 0"), (1, "below 1")):
            with pytest.raises(ParameterError, match=f"low must be {words}; got {wrong}"):
                Bounded(low=wrong)
    finally:
        del Named._catalogues["scorer"]["bounded-for-a-test"]


def test_a_value_is_made_as_a_dataclass_is():
    assert RankNet(True, ties=True) == RankNet(normalise=True, ties=True)
    assert RankNet() != RankNet(sigma=2.0)
    assert RankNet() != LBFGS()
    assert list(inspect.signature(RankNet).parameters) == [field.name for field in dataclasses.fields(RankNet)]
    assert dataclasses.replace(RankNet(), sigma=3.0) == RankNet(sigma=3.0)


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((True, 1.0, True, 1), {}, "takes from 1 to 4 positional arguments but 5 were given"),
        ((True,), {"normalise": False}, "multiple values for argument 'normalise'"),
        ((), {"sgima": 1.0}, "unexpected keyword argument 'sgima'"),
    ],
)
def test_wrong_arguments_are_named(args, named, words):
    with pytest.raises(TypeError, match=words):
        RankNet(*args, **named)


def test_a_dataclass_between_two_values_keeps_all_fields():
    @dataclasses.dataclass(frozen=True, repr=False)
    class Between(Loss):
        first: float = param(default=1.0)

    @register
    class Below(Between):
        name = "below-between"
        second: float = param(default=2.0)

    Named._catalogues["loss"].pop("below-between")
    assert repr(Below(3.0, 4.0)) == "below-between(first=3.0,second=4.0)"
    assert Below(1.0, 2.0) == Below() != Below(1.0, 3.0)


def loaded_by(program):
    words = [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("program", "needed", "spared"),
    [
        (
            "from podium.losses import Loss; Loss.parse('ranknet(sigma=2.0)')",
            "podium.losses.ranknet",
            "podium.losses.listnet",
        ),
        (
            "from podium.learner import Learner; Learner.parse('recipe(loss=ir-svm)')",
            "podium.losses.ir_svm",
            "podium.algorithms.adarank",
        ),
        (
            "from podium.aggregation import Aggregator; Aggregator.parse('borda')",
            "podium.aggregation.borda",
            "podium.aggregation.kemeny",
        ),
    ],
)
def test_a_name_imports_its_own_file_alone(program, needed, spared):
    loaded = loaded_by(program)
    assert needed in loaded
    assert spared not in loaded


def test_a_name_that_is_not_that_of_its_file_is_found():
    loaded_by("from podium.aggregation import Aggregator; assert Aggregator.parse('mc4').name == 'mc4'")
    loaded_by("from podium.learner import Learner; assert Learner.parse('model(file=x)').file == 'x'")


@pytest.mark.parametrize(
    ("package", "base", "name", "file"),
    [("losses", "Loss", "ranknet", "ranknet"), ("aggregation", "Aggregator", "mc4", "markov")],
)
@pytest.mark.parametrize("first", ["", "import podium.{}.{}; ", "import podium.base.registry as r; r.load_plugins(); "])
def test_a_plug_in_cannot_take_the_name_of_another_thing(package, base, name, file, first, tmp_path):
    (tmp_path / "my_plugin.py").write_text(
        f"from podium.{package} import {base}\nfrom podium.base.registry import register\n"
        f"@register\nclass Mine({base}):\n    name = {name!r}\n"
    )
    about = tmp_path / "my_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[podium]\nmine = my_plugin\n")
    program = f"{first.format(package, file)}from podium.{package} import {base}; {base}.parse({name!r})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert re.search(f"^podium.base.errors.ParameterError: Two .* are called {name!r}: .*my_plugin", done.stderr, re.M)
