"""Click logs: pages, their files and frames."""
