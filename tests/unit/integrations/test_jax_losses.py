"""Losses as functions of JAX. Skipped if JAX is not installed."""

import numpy as np
import pytest

import podium
from podium.losses import Loss

jax = pytest.importorskip("jax")
SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])


@pytest.fixture
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", ["lambdarank(metric=ndcg@10)", "listnet"])
def test_value_and_gradient_are_those_of_the_loss(name):
    expected, objective = Loss.parse(name)(SCORES, LABELS), podium.integrations.jax.loss(name)
    for function in (jax.value_and_grad(objective), jax.jit(jax.value_and_grad(objective))):
        value, gradient = function(SCORES, LABELS)
        assert float(value) == pytest.approx(expected.value, abs=1e-12)
        assert np.asarray(gradient) == pytest.approx(expected.gradient, abs=1e-12)


def test_padded_grouped_and_mapped_batches_agree():
    objective = podium.integrations.jax.loss("softmax")
    scores, labels = np.stack([SCORES, SCORES[::-1]]), np.stack([LABELS, LABELS])
    mask = np.array([[True] * 4, [True, True, True, False]])
    padded = jax.jit(jax.grad(objective))(scores, labels, mask=mask)
    grouped = jax.grad(objective)(scores[mask], labels[mask], group=np.array([4, 3]))
    assert (np.asarray(padded)[mask] == np.asarray(grouped)).all()
    assert float(jax.vmap(objective)(scores, labels).mean()) == pytest.approx(float(objective(scores, labels)))


def test_float32_stays_float32():
    value, gradient = jax.value_and_grad(podium.integrations.jax.loss("ranknet"))(SCORES.astype(np.float32), LABELS)
    assert value.dtype == gradient.dtype == np.float32


def test_learned_parameters_are_differentiated():
    objective, expected = podium.integrations.jax.loss("mallows"), Loss.parse("mallows")(SCORES, LABELS)
    slopes = jax.grad(lambda params: objective(SCORES, LABELS, params=params))(Loss.parse("mallows").learned_values())
    assert np.asarray(slopes) == pytest.approx(expected.params, rel=1e-6)


def test_a_step_draws_anew():
    objective = podium.integrations.jax.loss("xe-ndcg")
    assert len({float(objective(SCORES, LABELS, step=step)) for step in (0, 1, 1)}) == 2


def test_a_score_that_is_not_a_number_is_an_error_in_words(capfd):
    with pytest.raises(jax.errors.JaxRuntimeError, match="score 1 of 4 is nan"):
        jax.block_until_ready(podium.integrations.jax.loss("ranknet")(SCORES * np.nan, LABELS))
    capfd.readouterr()


RAX = {
    "softmax": lambda rax, s, y: rax.softmax_loss(s, y),
    "listmle": lambda rax, s, y: rax.listmle_loss(s, y),
    "ranknet": lambda rax, s, y: rax.pairwise_logistic_loss(s, y, reduce_fn=summed),
    "hinge": lambda rax, s, y: rax.pairwise_hinge_loss(s, y, reduce_fn=summed),
}


def summed(values, where):
    return (values * where).sum()


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", RAX)
def test_functions_are_those_of_rax(name):
    rax = pytest.importorskip("rax")
    scores, labels = np.array([0.2, -1.0, 0.7, 1.5]), np.array([1.0, 0.0, 3.0, 2.0])
    ours = jax.value_and_grad(podium.integrations.jax.loss(name))(scores, labels)
    theirs = jax.value_and_grad(lambda s: RAX[name](rax, s, labels))(scores)
    assert float(ours[0]) == pytest.approx(float(theirs[0]), rel=1e-6)
    assert np.asarray(ours[1]) == pytest.approx(np.asarray(theirs[1]), rel=1e-6, abs=1e-9)
