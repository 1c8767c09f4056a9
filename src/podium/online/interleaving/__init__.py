"""Interleaving methods, one file each. A new one: its file, one import line here, one test."""

from podium.online.interleaving.base import Interleaver as Interleaver
from podium.online.interleaving.base import Interleaving as Interleaving
from podium.online.interleaving.base import make_page as make_page
from podium.online.interleaving.optimised import Optimised as Optimised
from podium.online.interleaving.probabilistic import Probabilistic as Probabilistic
from podium.online.interleaving.team_draft import TeamDraft as TeamDraft
