"""The ways to interleave, one file each; importing this registers them."""

from podium.evaluation.optimised import Optimised as Optimised
from podium.evaluation.probabilistic import Probabilistic as Probabilistic
from podium.evaluation.team_draft import TeamDraft as TeamDraft
