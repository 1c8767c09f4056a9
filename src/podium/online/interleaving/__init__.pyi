from .base import Interleaver as Interleaver
from .base import Interleaving as Interleaving
from .base import make_page as make_page
from .optimised import Optimised as Optimised
from .probabilistic import Probabilistic as Probabilistic
from .team_draft import TeamDraft as TeamDraft
