"""Search engines: their answers, and the features that they logged."""
