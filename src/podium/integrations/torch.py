"""Losses of podium as modules of torch: gradients come from podium's kernels, on the processor."""

from __future__ import annotations

import functools
from typing import Any

from podium.integrations.batch import mean_loss, parsed
from podium.losses import Loss
from podium.scorers.torch import require_torch


def loss(spec: Loss | str) -> Any:
    """Make a `torch.nn.Module` that gives the mean of a loss over the queries of a batch, for backward().

        criterion = podium.integrations.torch.loss("lambdarank(metric=ndcg@10)")
        criterion(scores, labels, group=sizes).backward()  # (N,), with sizes of consecutive queries
        criterion(scores, labels, mask=mask).backward()  # (B, n), one query per row, mask False at padding

    The value has the type and device of the scores. Learned parameters of the loss are parameters of the module. A loss
    that samples draws anew in each call while the module is in training mode. A loss with a `surrogate` gives its value
    and the gradient of its surrogate.
    """
    return _classes()(parsed(spec))


@functools.cache
def _classes() -> Any:
    """Class of the modules, defined once torch is imported."""
    torch = require_torch("podium.integrations.torch")
    Function: Any = torch.autograd.Function
    Module: Any = torch.nn.Module

    class Mean(Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, loss: Loss, scores: Any, labels: Any, group: Any, mask: Any, *learned: Any) -> Any:
            parameters = [float(value) for value in learned]
            of, s = loss.with_learned(parameters), scores.detach().double().cpu().numpy()
            value, gradient, slopes = mean_loss(of, s, _numbers(labels), group=_numbers(group), mask=_numbers(mask))
            ctx.save_for_backward(scores.new_tensor(gradient))
            ctx.slopes = [own.new_tensor(slope) for slope, own in zip(slopes, learned, strict=True)]
            return scores.new_tensor(value)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, above: Any) -> tuple[Any, ...]:
            (gradient,) = ctx.saved_tensors
            return None, above * gradient, None, None, None, *(above.to(slope) * slope for slope in ctx.slopes)

    class RankingLoss(Module):  # type: ignore[misc]
        """Mean of a loss over the queries of a batch."""

        def __init__(self, loss: Loss) -> None:
            super().__init__()
            self.loss = loss
            for name, value in zip(loss.learned, loss.learned_values(), strict=True):
                self.register_parameter(name, torch.nn.Parameter(torch.tensor(value, dtype=torch.float64)))
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, scores: Any, labels: Any, group: Any = None, mask: Any = None) -> Any:
            drawn = self.loss.resampled(int(self.calls))
            if self.training:
                self.calls += 1
            return Mean.apply(drawn, scores, labels, group, mask, *self.parameters())

        def extra_repr(self) -> str:
            return str(self.loss)

    return RankingLoss


def _numbers(values: Any) -> Any:
    """A tensor, an array or a list as numpy takes it."""
    return values.detach().cpu().numpy() if hasattr(values, "detach") else values
