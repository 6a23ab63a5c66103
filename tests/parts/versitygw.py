"""versitygw: S3 over a folder, built from the Go module proxy."""

from pathlib import Path

from tests.parts import guardian
from tests.parts.aws import ACCESS_KEY, REGION, SECRET_KEY, AwsPart
from tests.parts.golang import VERSITYGW
from tests.parts.http import until_answers
from tests.parts.ports import free_port
from tests.parts.process import Process


class VersityGateway(AwsPart):
    """An S3 server whose objects are files in `.folder`."""

    def __init__(self) -> None:
        port = free_port()
        self.folder = guardian.scratch("s3")
        for name in ("objects", "metadata"):
            (self.folder / name).mkdir()
        keys = ["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--region", REGION]
        # Metadata beside the objects, for not every file system has extended attributes.
        backend = ["posix", "--sidecar", f"{self.folder}/metadata", f"{self.folder}/objects"]
        argv: list[str | Path] = [
            VERSITYGW.binary(),
            "--port",
            f"127.0.0.1:{port}",
            "--keep-alive",
            *keys,
            *backend,
        ]
        process = Process("versitygw", argv, cwd=self.folder)
        process.start()
        until_answers(process, f"http://127.0.0.1:{port}/")
        super().__init__(process, port, "S3")

    def close(self) -> None:
        super().close()
        guardian.discard(self.folder)
