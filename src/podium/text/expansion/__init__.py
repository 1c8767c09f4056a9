"""Query expansion: retrievals that search again with words of the first documents."""
