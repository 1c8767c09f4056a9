"""Click logs: results pages with impressions and clicks, their files and data frames."""
