"""A disk that a test can fill: a file system in memory whose size is cut down to what is on it."""

import os
import shutil
import subprocess

from tests.parts import guardian
from tests.parts.cache import UnavailableError, tool

SIZE = "2g"
PAGE = 4096


class Disk:
    """Mounted on `.folder`; only root may mount."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise UnavailableError("only root can mount a file system that fills up")
        self.folder = guardian.scratch("disk")
        guardian.watch("mount", self.folder)
        self._mount("-t", "tmpfs", "-o", f"size={SIZE},mode=755", "switchyard-test")

    def fill(self) -> None:
        """From now on nothing new fits."""
        for _ in range(20):  # whoever writes meanwhile makes the size too small for what is there
            used = max(PAGE, shutil.disk_usage(self.folder).used)
            if self._try("-o", f"remount,size={used}").returncode == 0:
                return
        raise AssertionError(f"{self.folder} could not be filled")

    def protect(self) -> None:
        """From now on it can only be read."""
        self._mount("-o", "remount,ro")

    def free(self) -> None:
        """There is room again, and it can be written."""
        self._mount("-o", f"remount,rw,size={SIZE}")

    def close(self) -> None:
        subprocess.run([tool("umount"), "--lazy", self.folder], check=True)
        guardian.release("mount", self.folder)
        guardian.discard(self.folder)

    def _mount(self, *words: str) -> None:
        done = self._try(*words)
        if done.returncode != 0:
            guardian.discard(self.folder)
            raise UnavailableError(f"mount: {done.stderr.strip()}")

    def _try(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [tool("mount"), *words, str(self.folder)]
        return subprocess.run(argv, capture_output=True, text=True, check=False)
