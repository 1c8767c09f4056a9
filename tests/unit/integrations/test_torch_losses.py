"""Losses as modules of torch. Skipped if torch is not installed."""

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.losses import Loss

torch = pytest.importorskip("torch")
SCORES, LABELS = [0.0, 1.0, 3.0, 2.0], [0.0, 0.0, 1.0, 2.0]


def tensor(numbers, **how):
    return torch.tensor(numbers, dtype=torch.float64, **how)


def smooth(name):
    """A loss whose gradient torch can check: the exact derivative of a value that draws the same numbers again."""
    loss = Loss.parse(name)
    return loss.surrogate is None


@pytest.mark.parametrize("name", [name for name in sorted(Loss.catalogue()) if smooth(name)])
def test_gradcheck_accepts_every_loss_without_a_surrogate(name):
    criterion = podium.integrations.torch.loss(name).eval()
    scores = tensor([0.13, 0.91, -0.4, 0.32, 0.77], requires_grad=True)
    labels = tensor([0.0, 1.0, 1.0, 0.0, 2.0])
    learned = list(criterion.parameters())
    assert torch.autograd.gradcheck(
        lambda s, *_: criterion(s, labels, group=[3, 2]), (scores, *learned), eps=1e-6, atol=2e-5, rtol=1e-4
    )


@pytest.mark.parametrize("name", ["lambdarank(metric=ndcg@10)", "pmop-fd", "yeti-rank", "listnet"])
def test_value_and_gradient_are_those_of_the_loss(name):
    scores, expected = tensor(SCORES, requires_grad=True), Loss.parse(name)(SCORES, LABELS)
    value = podium.integrations.torch.loss(name)(scores, tensor(LABELS))
    (3.0 * value).backward()
    assert float(value.detach()) == pytest.approx(expected.value, abs=1e-12)
    assert scores.grad.numpy() == pytest.approx(3.0 * expected.gradient, abs=1e-12)


def test_padded_and_grouped_batches_agree():
    criterion, mask = (
        podium.integrations.torch.loss("softmax"),
        torch.tensor([[True, True, True], [True, False, False]]),
    )
    padded = tensor([[0.0, 1.0, 3.0], [2.0, 9.0, 9.0]], requires_grad=True)
    row = tensor(SCORES, requires_grad=True)
    value = criterion(padded, tensor([[0.0, 0.0, 1.0], [2.0, 5.0, 5.0]]), mask=mask)
    other = criterion(row, tensor(LABELS), group=torch.tensor([3, 1]))
    value.backward()
    other.backward()
    assert value == other
    assert (padded.grad[mask] == row.grad).all()
    assert (padded.grad[~mask] == 0).all()


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_the_type_of_scores_is_kept(kind):
    scores = torch.tensor(SCORES, dtype=getattr(torch, kind), requires_grad=True)
    value = podium.integrations.torch.loss("ranknet")(scores, torch.tensor([0, 0, 1, 2]))
    value.backward()
    assert value.dtype == scores.grad.dtype == scores.dtype


def test_learned_parameters_of_a_loss_are_parameters_of_the_module():
    criterion = podium.integrations.torch.loss("mallows")
    assert [name for name, _ in criterion.named_parameters()] == ["log_theta"]
    criterion(tensor(SCORES), tensor(LABELS)).backward()
    expected = Loss.parse("mallows")(SCORES, LABELS)
    assert criterion.log_theta.grad.item() == pytest.approx(expected.params[0], abs=1e-12)
    before = expected.value
    torch.optim.SGD(criterion.parameters(), lr=0.1).step()
    assert criterion(tensor(SCORES), tensor(LABELS)).item() < before


def test_a_loss_that_samples_draws_anew_while_training():
    criterion = podium.integrations.torch.loss("xe-ndcg")
    drawn = {criterion(tensor(SCORES), tensor(LABELS)).item() for _ in range(3)}
    assert len(drawn) == 3
    criterion.eval()
    assert len({criterion(tensor(SCORES), tensor(LABELS)).item() for _ in range(3)}) == 1
    again = podium.integrations.torch.loss("xe-ndcg")
    again.load_state_dict(criterion.state_dict())
    assert again.calls == 3


def test_errors_of_torch_batches_are_in_words():
    criterion = podium.integrations.torch.loss("ranknet")
    with pytest.raises(DataError, match="score 1 of 4 is nan"):
        criterion(tensor([np.nan, 0, 0, 0]), tensor(LABELS))
    with pytest.raises(DataError, match="add up to 3, but there are 4"):
        criterion(tensor(SCORES), tensor(LABELS), group=[1, 2])


def test_a_network_learns_by_a_loss_of_podium():
    data, _ = podium.make_letor_like(40, (5, 15), n_features=5, seed=3)
    torch.manual_seed(0)
    X, y, net = torch.tensor(data.features), torch.tensor(data.labels), torch.nn.Linear(5, 1)
    criterion, optimiser = podium.integrations.torch.loss("lambdarank"), torch.optim.Adam(net.parameters(), lr=0.05)
    values = []
    for _ in range(60):
        optimiser.zero_grad()
        value = criterion(net(X).squeeze(1), y, group=data.sizes)
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert np.mean(values[-5:]) < 0.8 * values[0]
