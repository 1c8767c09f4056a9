from huber import Huber

from podium.testing import check_loss


def reference(loss, s, y):
    errors = [abs(a - b) for a, b in zip(s, y, strict=True)]
    return sum(e**2 / 2 if e <= loss.delta else loss.delta * e - loss.delta**2 / 2 for e in errors)


def test_it_keeps_the_promises_of_a_loss():
    check_loss(Huber(), reference=reference, examples=4)
    check_loss(Huber(delta=0.3), reference=reference, examples=2)
