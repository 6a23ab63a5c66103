"""A page without a place in `PAGES`, or a button that no test presses, fails here."""

import inspect
import re
from typing import Any

import signalbox.routes  # noqa: F401 - declares the endpoints
from signalbox.endpoint import ENDPOINTS, Endpoint
from tests.acceptance.pages import test_buttons
from tests.acceptance.pages.conftest import Site
from tests.acceptance.pages.scene import Scene
from tests.acceptance.pages.test_every_page import PAGES
from tests.parts.browser import Chromium

# Every kind of button, and the test in test_buttons.py that presses it. A link that looks like a button is the page
# that it leads to; a button of a form is the route that the form is sent to; any other is the attribute of its script.
PRESSED = {
    "GET confirm_pause": test_buttons.test_a_queue_is_paused_and_resumed_with_a_reason,
    "GET confirm_resume": test_buttons.test_a_queue_is_paused_and_resumed_with_a_reason,
    "POST pause": test_buttons.test_a_queue_is_paused_and_resumed_with_a_reason,
    "POST resume": test_buttons.test_a_queue_is_paused_and_resumed_with_a_reason,
    "GET confirm_retrigger": test_buttons.test_a_failed_job_is_retriggered_from_its_page,
    "POST retrigger": test_buttons.test_a_failed_job_is_retriggered_from_its_page,
    "GET confirm_cancel": test_buttons.test_an_open_job_is_canceled_from_its_page,
    "POST cancel": test_buttons.test_an_open_job_is_canceled_from_its_page,
    "GET confirm_call_back": test_buttons.test_callbacks_are_made_again_from_the_page_of_a_job,
    "POST call_back": test_buttons.test_callbacks_are_made_again_from_the_page_of_a_job,
    "GET confirm_dismiss": test_buttons.test_an_entry_of_the_inbox_is_dismissed_or_retriggered,
    "POST dismiss_action": test_buttons.test_an_entry_of_the_inbox_is_dismissed_or_retriggered,
    "GET confirm_retrigger_action": test_buttons.test_an_entry_of_the_inbox_is_dismissed_or_retriggered,
    "POST retrigger_action": test_buttons.test_an_entry_of_the_inbox_is_dismissed_or_retriggered,
    "GET confirm_dismiss_entry": test_buttons.test_a_message_that_nobody_could_read_is_dismissed,
    "POST dismiss_entry": test_buttons.test_a_message_that_nobody_could_read_is_dismissed,
    "GET confirm_retrigger_many": test_buttons.test_a_cause_is_retriggered_as_one,
    "POST retrigger_many": test_buttons.test_selected_jobs_are_retriggered_or_canceled_together,
    "GET confirm_cancel_many": test_buttons.test_selected_jobs_are_retriggered_or_canceled_together,
    "POST cancel_many": test_buttons.test_selected_jobs_are_retriggered_or_canceled_together,
    "GET jobs": test_buttons.test_jobs_are_searched_by_a_form,
    "POST execute": test_buttons.test_a_job_is_submitted_by_a_form,
    "GET again": test_buttons.test_a_job_runs_again_with_changes,
    "GET processes": test_buttons.test_a_job_is_submitted_by_a_form,
    "GET confirm_pause_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "POST pause_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "GET confirm_resume_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "POST resume_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "GET confirm_cancel_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "POST cancel_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "GET confirm_retrigger_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "POST retrigger_campaign": test_buttons.test_a_campaign_is_paused_resumed_retriggered_and_canceled,
    "GET confirm_schedule": test_buttons.test_a_schedule_is_triggered_paused_and_resumed,
    "POST pause_schedule": test_buttons.test_a_schedule_is_triggered_paused_and_resumed,
    "POST trigger_schedule": test_buttons.test_a_schedule_is_triggered_paused_and_resumed,
    "GET confirm_forget_results": test_buttons.test_results_are_forgotten,
    "POST forget_results": test_buttons.test_results_are_forgotten,
    "POST login": test_buttons.test_somebody_signs_in_and_out,
    "GET workers": test_buttons.test_what_needs_somebody_leads_to_where_it_is_decided,
    "GET queues": test_buttons.test_what_needs_somebody_leads_to_where_it_is_decided,
    "GET inbox": test_buttons.test_what_needs_somebody_leads_to_where_it_is_decided,
    "GET job": test_buttons.test_a_decision_can_be_left,
    "GET campaign": test_buttons.test_a_decision_can_be_left,
    "GET schedules": test_buttons.test_a_decision_can_be_left,
    "script copy": test_buttons.test_a_text_is_copied,
    "script view": test_buttons.test_jobs_are_searched_where_the_map_is,
}
FIND = """() => [...document.querySelectorAll("main button, main a.btn, header button")].map((each) => {
  const form = each.closest("form"), path = (address) => new URL(address).pathname + new URL(address).search;
  if (each.tagName === "A") return {method: "GET", path: path(each.href)};
  if (each.type === "button") return {script: Object.keys(each.dataset)[0] || each.outerHTML};
  return {method: (each.getAttribute("formmethod") || form.method).toUpperCase(), path: path(each.hasAttribute("formaction") ? each.formAction : form.action)};
})"""


def test_every_page_is_opened_by_the_tests(scene: Scene) -> None:
    paths = [scene.at(path) for path in PAGES.values()]
    missing = [
        each.path for each in ENDPOINTS if each.template and not any(_is(each, path) for path in paths)
    ]
    assert missing == [], "add them to PAGES"


def test_every_button_is_pressed_by_a_test(chromium: Chromium, site: Site, scene: Scene) -> None:
    found: dict[str, str] = {}
    with chromium.sight(site.origin) as sight:
        for name, path in PAGES.items():
            page = sight.open(scene.at(path))
            for button in page.evaluate(FIND):
                found.setdefault(_kind(button), name)
    untested = {kind: page for kind, page in found.items() if kind not in PRESSED}
    assert untested == {}, "press them in test_buttons.py"
    assert [kind for kind in PRESSED if kind not in found] == [], "no page has these any more"
    assert all(inspect.isfunction(test) for test in PRESSED.values())


def _kind(button: dict[str, Any]) -> str:
    if "script" in button:
        return f"script {button['script']}"
    # A form that chooses jobs asks with GET, for the page that confirms.
    for each in ENDPOINTS:
        if each.method == button["method"] and _is(each, button["path"]):
            return f"{each.method} {each.name}"
    raise AssertionError(f"no route takes {button}")


def _is(endpoint: Endpoint, path: str) -> bool:
    pattern = re.sub(r"\\{\w+:path\\}", ".+", re.escape(endpoint.path))
    pattern = re.sub(r"\\{\w+\\}", "[^/]+", pattern)
    return re.fullmatch(pattern, path.partition("?")[0]) is not None
