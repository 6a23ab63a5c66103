"""Argo Workflows, seen through the Kubernetes API."""
