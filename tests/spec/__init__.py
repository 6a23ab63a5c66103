"""The formal models in spec/, checked by Spin: `make spec`."""
