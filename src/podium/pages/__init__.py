"""Pages of results: HTML files that need no network."""
