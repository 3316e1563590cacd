"""Real tables as tasks, a file for each group."""

from . import economy, health, leaderboard, motor, unseen, visits  # noqa: F401  (each registers its tasks)
from .declare import REGISTRY, Declared  # noqa: F401
