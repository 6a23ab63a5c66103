"""Workflows on Argo, through the Kubernetes API (switchyard/backends/kubernetes).

The path of a workflow through this package:

    handler.py    conductor's side: the template exists, the input is stored, the Workflow is created
    manifest.py   the Workflow resource, named like the run
    submit.py     creates it; after a timeout or a refusal, looks by name before it returns an outcome
    source.py     caboose's side: observes, stops and deletes Switchyard's Workflows in one namespace
    informer.py   list and watch
    observe.py    a Workflow resource becomes an observation: nodes.py unpacks its nodes, failure.py finds the
                  step that failed, logs.py its archived log
    resume/       `argo_resume`: wakes a suspended node of a waiting Workflow

`resource.py` knows where Workflows are in the API and which of them belong to Switchyard.
"""
