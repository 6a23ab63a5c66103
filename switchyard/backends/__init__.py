"""One folder per backend: its configuration model, its handler for conductor, its source for caboose."""
