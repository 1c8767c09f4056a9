"""Rankings of several voters: partial and tied lists, and their file formats."""
