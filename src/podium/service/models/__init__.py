"""Models that are served: versions, aliases, the model store."""
