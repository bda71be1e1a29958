"""Times and memory of the mechanism; ``python -m benchmarks`` writes results.json and results.md beside this file."""
