"""Collections: documents and queries from files of common formats."""
