"""The Kubernetes API, as far as we need it: credentials, requests, pages, watches."""
