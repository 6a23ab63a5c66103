"""The peers that the conductor is measured beside, each installed once into the cache folder."""
