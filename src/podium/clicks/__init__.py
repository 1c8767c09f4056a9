"""Clicks: models of them, and the labels, preferences and weights that they give."""

from podium.clicks.doctor import check_clicks as check_clicks
from podium.clicks.doctor import odd_pages as odd_pages
from podium.clicks.labellings import Labelling as Labelling
from podium.clicks.labellings import PairLabels as PairLabels
from podium.clicks.labellings import label_pairs as label_pairs
from podium.clicks.labellings import labels as labels
from podium.clicks.models import ClickModel as ClickModel
from podium.clicks.models import Fitted as Fitted
from podium.clicks.models import Predicted as Predicted
from podium.clicks.models import fit as fit
from podium.clicks.models.goodness_of_fit import Measures as Measures
from podium.clicks.models.goodness_of_fit import measure as measure
from podium.clicks.preference_rules import ClickPreferences as ClickPreferences
from podium.clicks.preference_rules import click_preferences as click_preferences
from podium.clicks.preference_rules import prefer as prefer
from podium.clicks.propensity_file import Propensities as Propensities
from podium.clicks.propensity_file import read_propensities as read_propensities
from podium.clicks.simulate import show as show
from podium.clicks.simulate import simulate as simulate
from podium.clicks.simulate import simulate_counts as simulate_counts
from podium.clicks.weights import Weighing as Weighing
from podium.clicks.weights import Weighted as Weighted
from podium.clicks.weights import weights as weights
