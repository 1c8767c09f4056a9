"""Collections: documents and queries, from the files people have."""
