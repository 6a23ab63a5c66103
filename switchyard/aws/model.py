"""What sqs, cirrus and cirrus_task share. Credentials come the way AWS's own tools find them."""

from switchyard.config.action import Action
from switchyard.config.names import Endpoint, Region


class AwsAction(Action):
    """An action that calls AWS, or a service with the same API."""

    endpoint: Endpoint | None = None
    """Where the service is, if not at AWS; AWS_ENDPOINT_URL works as well."""
    region: Region | None = None
    """The region; without it, what AWS's own tools would take."""
