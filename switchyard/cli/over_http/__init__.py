"""Commands over HTTP, for people without access to the database: `switchyard --url https://… list`.

The commands have the names of those that use the database. program.py loads one of these instead where a URL
was given, by --url or $SWITCHYARD_URL; the token is taken from $SWITCHYARD_TOKEN.

    session.py     the client of the given URL, and shortened ids
    jobs.py        submit, list, show, events, why, watch
    decisions.py   retrigger, cancel, pause, resume
    fleet.py       inbox, workers
    campaigns.py   what `campaign` can do without reading a source
    schedules.py   what `schedules` can do without a configuration
"""

COMMANDS = {
    "submit": "switchyard.cli.over_http.jobs:submit",
    "list": "switchyard.cli.over_http.jobs:list_",
    "show": "switchyard.cli.over_http.jobs:show",
    "events": "switchyard.cli.over_http.jobs:events",
    "watch": "switchyard.cli.over_http.jobs:watch",
    "why": "switchyard.cli.over_http.jobs:why",
    "inbox": "switchyard.cli.over_http.fleet:inbox",
    "retrigger": "switchyard.cli.over_http.decisions:retrigger",
    "cancel": "switchyard.cli.over_http.decisions:cancel",
    "campaign": "switchyard.cli.over_http.campaigns:campaign",
    "schedules": "switchyard.cli.over_http.schedules:schedules",
    "pause": "switchyard.cli.over_http.decisions:pause",
    "resume": "switchyard.cli.over_http.decisions:resume",
    "workers": "switchyard.cli.over_http.fleet:workers",
}
