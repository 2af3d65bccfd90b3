"""What a change of a control costs: `python -m tests.benchmarks` (a table; --json FILE)."""
