from steepest_descent import SteepestDescent

from podium.testing import check_solver


def test_it_keeps_the_promises_of_a_solver():
    check_solver(SteepestDescent())
