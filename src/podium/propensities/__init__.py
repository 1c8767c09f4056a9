"""Estimators of propensities, one file per estimator. A new one: its file, one import line here, one test."""

from podium.propensities.base import Estimator as Estimator
from podium.propensities.base import propensities as propensities
from podium.propensities.click_model import ByClickModel as ByClickModel
from podium.propensities.dual import Dual as Dual
from podium.propensities.harvest import Harvest as Harvest
from podium.propensities.pairwise import Pairwise as Pairwise
from podium.propensities.randomised import Randomised as Randomised
from podium.propensities.regression_em import RegressionEM as RegressionEM
from podium.propensities.swap import Swap as Swap
from podium.propensities.trust import Trust as Trust
