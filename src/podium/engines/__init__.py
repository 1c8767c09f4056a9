"""Live search engines: asked for rankings and features, and given models."""
