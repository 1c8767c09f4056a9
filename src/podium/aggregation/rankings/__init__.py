"""Rankings of voters: partial and tied lists, and the files that hold them."""
