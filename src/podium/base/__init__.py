"""Base: errors, names and parameters, arrays, files, threads. It imports nothing else of podium."""
