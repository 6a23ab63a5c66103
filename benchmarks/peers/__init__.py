"""The peers of the benchmarks, each installed once into the cache folder."""
