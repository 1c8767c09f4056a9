"""Documents as text: index, search, features."""
