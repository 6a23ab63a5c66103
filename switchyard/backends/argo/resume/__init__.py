"""The argo_resume type: wakes a waiting Argo workflow."""
