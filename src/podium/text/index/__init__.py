"""Index: documents, terms and positions on disk."""
