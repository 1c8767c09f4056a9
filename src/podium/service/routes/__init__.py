"""What the service does at each address. The table of all of them is in `app.py`."""
