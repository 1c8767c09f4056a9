from .base import Picker as Picker
from .base import Picks as Picks
from .depth import Depth as Depth
from .elo import Elo as Elo
from .mixed import Mixed as Mixed
from .random import Random as Random
from .spread import Spread as Spread
