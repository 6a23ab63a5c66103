"""What conductor and caboose both know of Argo's Workflow resource."""
