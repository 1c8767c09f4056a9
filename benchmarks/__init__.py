"""Speed beside other tools, measured in one run: `python -m benchmarks [NAME…] [--quick]`."""
