"""Webhooks and other requests over HTTP; the answer is the outcome.

The path of an action through this package:

    handler.py     one action: builds the request, sends it, and drafts the outcome from the answer
    request.py     builds the request: template.py renders, sign.py signs, url.py checks the URL
    delivery.py    one exchange and the draft of its outcome; shared with the stac backend
    send.py        the exchange itself, on a connection from connector.py, to an address that
                   resolver.py looked up and address.py allows; fault.py explains a missing answer
    answer.py      status, headers and a bounded body
    rules.py       classifies the answer
    transcript.py  request and answer as one line of JSON, without secrets (redact.py)
    archive.py     many transcripts in one object of the store, written before their outcomes are recorded

`model.py` and `outbound.py` are the configuration, `settings.py` makes a client from it.
"""
