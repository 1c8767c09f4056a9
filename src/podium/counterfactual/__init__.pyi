from .discounts import Discount as Discount
from .off_policy import LOGGED as LOGGED
from .off_policy import Value as Value
from .off_policy import Values as Values
from .off_policy import value as value
from .relevance import cross_fitted as cross_fitted
