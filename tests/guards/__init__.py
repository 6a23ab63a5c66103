"""Guards of `make lint`: each finds in the sources what no linter looks for. They import nothing of the product."""
