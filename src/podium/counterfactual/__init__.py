"""Off-policy (counterfactual) evaluation: the value of rankers, estimated from the clicks on other rankers' pages."""

from podium.counterfactual.discounts import Discount as Discount
from podium.counterfactual.off_policy import LOGGED as LOGGED
from podium.counterfactual.off_policy import Value as Value
from podium.counterfactual.off_policy import Values as Values
from podium.counterfactual.off_policy import value as value
from podium.counterfactual.relevance import cross_fitted as cross_fitted
