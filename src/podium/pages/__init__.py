"""HTML reports: self-contained files that need no network."""
