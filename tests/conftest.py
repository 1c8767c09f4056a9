"""What the whole suite shares: random examples that are the same in every run and on every machine.

To look for new ones: python -m pytest --hypothesis-profile default
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
