"""The base of both handlers: one Step Functions client, and threads for its calls."""

from typing import TYPE_CHECKING

from switchyard.aws import client as aws
from switchyard.aws.model import AwsAction
from switchyard.backends.threads import Threads

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class SfnHandler:
    """Opens the client before the first dispatch and closes it at the end."""

    _client: "SFNClient"

    def __init__(self, name: str, action: AwsAction) -> None:
        self.name = name
        self._endpoint, self._region, self._within = action.endpoint, action.region, action.timeout
        self._threads = Threads(min(action.concurrency, 32))

    async def start(self) -> None:
        """Create the client."""
        self._client = await self._threads.run(
            aws.step_functions, self._endpoint, self._region, within=self._within
        )

    async def close(self) -> None:
        """Close the client's connections, if it was started."""
        if "_client" in vars(self):
            self._client.close()
