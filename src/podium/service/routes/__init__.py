"""Routes of the service, one module per topic; the table of all routes is in `app.py`."""
