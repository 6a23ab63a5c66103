"""Signalbox: the HTTP API (OGC API Processes) and the dashboard.

The path of a request, from its bytes to its answer:

    app.py         the ASGI application: every endpoint of routes/, static files, security headers
    access/        identifies the caller: token, JWT, trusted proxy or loopback -> `Caller` with a role
    routes/        one file per subject; a route is an async function that builds ONE record (records/)
    database.py    its connection: one transaction per request, under the database role of the caller
    render.py      the record as JSON, or as HTML with the template that the endpoint names
    problem.py     every error as an RFC 7807 document, or the page `error.html`

Signalbox holds no state: what it shows is in the database or the object store, and what it changes is
changed by a SQL function that the command line uses too. live/ is the stream that pages update themselves by.

How a page is made
------------------
A route looks like this (endpoint.py explains the decorator):

    @get("/queues", Role.READER, template="queues")
    async def queues(call: Call) -> QueueList: ...

`GET /queues` with `Accept: application/json` (or `?f=json`) returns the `QueueList` as JSON; with
`Accept: text/html` (or `?f=html`) it renders `pages/templates/queues.html` with these variables:

    record    the same QueueList: plain pydantic data, see signalbox/records/
    parts     records of other routes that the page also shows, by endpoint name: the endpoint lists them
              as `parts=("events", "family")`; a record that the caller's role may not read is None
    caller    name and role of the caller; `caller.may("operator")` decides which buttons are shown
    signed_in whether the caller logged in by the form, and can log out
    path      path and query of this page; `url("/jobs")` prefixes a link with the base path
    now       the time at which the record was read

Forms post `application/x-www-form-urlencoded` to the routes that accept JSON (`/queues/{name}/pause`, …):
the fields are those of the route's body model, and the answer is a 303 to the endpoint's `after` page, or an
error page. Errors render `error.html` with a `Problem` as the record.

Live regions: a block called `region_<id>` in a page's template holds one element with that id. A page whose
`<body>` has `data-stream="{{ stream }}"` is sent `{"<id>": "<html>"}` for each region that changed
(`event: regions`), by rendering these blocks again from a fresh record.

signalbox/pages/ belongs to the pages alone: environment.py makes the Jinja environment (filters, globals),
`pages/static/` is served under /static.
"""
