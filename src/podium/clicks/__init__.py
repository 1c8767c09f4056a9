"""Clicks: models of them, and the labels, preferences and weights that they give."""

from podium.clicks.check import check_clicks as check_clicks
from podium.clicks.check import odd_pages as odd_pages
from podium.clicks.click_rate_grades import ClickRateGrades as ClickRateGrades
from podium.clicks.coec import COEC as COEC
from podium.clicks.ctr import CTR as CTR
from podium.clicks.graph import Graph as Graph
from podium.clicks.labels import Labelling as Labelling
from podium.clicks.labels import PairLabels as PairLabels
from podium.clicks.labels import label_pairs as label_pairs
from podium.clicks.labels import labels as labels
from podium.clicks.models import ClickModel as ClickModel
from podium.clicks.models import Fitted as Fitted
from podium.clicks.models import Predicted as Predicted
from podium.clicks.models import fit as fit
from podium.clicks.models.measures import Measures as Measures
from podium.clicks.models.measures import measure as measure
from podium.clicks.preferences import ClickPreferences as ClickPreferences
from podium.clicks.preferences import click_preferences as click_preferences
from podium.clicks.preferences import prefer as prefer
from podium.clicks.propensity import Propensities as Propensities
from podium.clicks.propensity import read_propensities as read_propensities
from podium.clicks.simulate import show as show
from podium.clicks.simulate import simulate as simulate
from podium.clicks.simulate import simulate_counts as simulate_counts
from podium.clicks.weights import Weighted as Weighted
from podium.clicks.weights import weights as weights
