from .adapted import Adapted as Adapted
from .auto import Auto as Auto
from .bagged import Bagged as Bagged
from .blended import Blended as Blended
from .composite import Composite as Composite
from .interpolated import Interpolated as Interpolated
from .self_trained import SelfTrained as SelfTrained
