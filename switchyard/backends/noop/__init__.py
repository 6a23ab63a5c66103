"""Does nothing, successfully: for tests, samples and benchmarks."""
