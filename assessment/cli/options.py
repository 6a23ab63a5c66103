"""Options that several commands share."""

import click

config_file = click.option("-c", "--config", metavar="FILE", help="The configuration, for its store.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
