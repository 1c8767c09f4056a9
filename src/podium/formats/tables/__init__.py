"""Tables: data frames, CSV and Parquet."""
