"""podium: learning to rank, from features to rankings with odds."""
