"""The responses of the health server: /health in the platform's format, /livez, /readyz and /metrics."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from flask import Flask, Response, jsonify

from assessment.work.metrics import exposition
from assessment.work.state import ERROR, RUNNING, State
from assessment.work.verdict import Limits, heartbeat_age, overdue, reasons


def answers(state: State, limits: Limits, service: str, clock: Callable[[], float]) -> Flask:
    """The application. It only reads the state, except that it records when a check has seen the error."""
    app = Flask(__name__, static_folder=None)

    @app.get("/health")
    def health() -> Response:
        now = clock()
        why = reasons(state, limits, now)
        body: dict[str, object] = {"status": "unavailable" if why else "ok", "service": service}
        if why:
            body["reason"] = ", ".join(why)
        else:
            body["heartbeat_age"] = round(heartbeat_age(state, now), 2)
        answer = _answer(not why, body)
        if state.status == ERROR:
            # Only once it is sent: the worker could end between the record and the response.
            answer.call_on_close(lambda: setattr(state, "error_seen", 1))
        return answer

    @app.get("/livez")
    def livez() -> Response:
        why = overdue(state, limits, clock())
        return _answer(not why, {"live": not why, **({"reason": ", ".join(why)} if why else {})})

    @app.get("/readyz")
    def readyz() -> Response:
        checks = {
            "running": state.status == RUNNING,
            "heartbeat": not overdue(state, limits, clock()),
            "queue": bool(state.queue_answers),
        }
        return _answer(all(checks.values()), {"ready": all(checks.values()), "checks": checks})

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(exposition(state, clock()), content_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def _answer(good: bool, body: Mapping[str, object]) -> Response:
    response = jsonify(body)
    response.status_code = HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Cache-Control"] = "no-store"
    return response
