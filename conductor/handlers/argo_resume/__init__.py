"""The argo_resume handler: wakes a waiting Argo workflow."""

from conductor.handlers.argo_resume.handler import ArgoResumeHandler

__all__ = ["ArgoResumeHandler"]
