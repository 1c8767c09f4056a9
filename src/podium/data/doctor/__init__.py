"""Data doctor: checks for what spoils models, as `podium check` prints it."""
