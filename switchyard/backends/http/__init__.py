"""Webhooks and other requests over HTTP; the answer is the outcome.

The path of an action through this package:

    handler.py     one action: request, send, outcome of the answer, draft
    request.py     the action becomes a request: template.py renders, sign.py signs, url.py vets the URL
    delivery.py    one exchange and the draft of its outcome; shared with the stac backend
    send.py        the exchange itself, on a connection from connector.py, to an address that
                   resolver.py looked up and address.py allows; fault.py says why there is no answer
    answer.py      status, headers and a bounded body
    rules.py       what the answer means
    transcript.py  both sides as one line of JSON, without secrets (redact.py)
    archive.py     many transcripts in one object of the store, before their outcomes are recorded

`model.py` and `outbound.py` are the configuration, `settings.py` makes a client from it.
"""
