"""A stored run in an object store: its plan, events and input come here, its output stays."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pyarrow.fs import FileSelector, FileType, S3FileSystem

from holdfast.harness.engine.artefacts.history_files import OUTPUTS
from holdfast.harness.engine.artefacts.output_file import OutputFile
from holdfast.harness.engine.artefacts.stored_run import HISTORY, VERDICTS, StoredVerdicts, read_run
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.site.spark_session import judging_session, require_spark
from holdfast.harness.lease import Lease
from holdfast.harness.model.history import History
from holdfast.harness.spi.outside_files import EVENTS_BYTES, raised, require_length
from holdfast.harness.spi.service import Site

SCHEME = "s3a://"
_REGION = "us-east-1"
"""Stores that are not Amazon's have none, but their clients want one."""
_TIMEOUT_S = 10


def is_remote(run: str) -> bool:
    """Whether a run is named by a URL."""
    return "://" in run


def read_remote_run(url: str, site: Site) -> tuple[History, StoredVerdicts]:
    """A stored run, fully checked.

    Args:
        url: of its folder.
        site: with the address of the object store; without an endpoint it is Amazon's, with the credentials that its
            clients find by themselves.

    Raises:
        UsageError: it cannot be read, is not whole, or was edited; names the file.
    """
    if not url.startswith(SCHEME):
        raise UsageError(f"RUN is {url!r}; name a folder, or a URL that begins with {SCHEME}.")
    require_spark(f"{url}: the output is counted")
    store = _store(site)
    base = url.removeprefix(SCHEME).rstrip("/")
    output = OutputFile(
        f"{base}/{HISTORY}/{OUTPUTS}",
        files=store,
        url=f"{SCHEME}{base}/{HISTORY}/{OUTPUTS}",
        session=partial(judging_session, site.spark_master),
    )
    with Lease("judge") as folder:
        try:
            _fetch(store, base, folder)
        except OSError as error:
            reason = str(error).partition("\n")[0]
            raise UsageError(
                f"{url}: cannot be read ({reason}); name a stored run, and its store with --s3-endpoint."
            ) from error
        return read_run(folder, output)


def _fetch(store: S3FileSystem, base: str, folder: Path) -> None:
    """Bring what is small."""
    (folder / HISTORY).mkdir()
    listed = store.get_file_info(FileSelector(f"{base}/{HISTORY}"))
    names = [f"{HISTORY}/{each.base_name}" for each in listed if each.type is FileType.File]
    for name in (PLAN, VERDICTS, *names):
        if name != f"{HISTORY}/{OUTPUTS}":
            with store.open_input_stream(f"{base}/{name}") as content:
                found = content.read(raised(EVENTS_BYTES) + 1)
                require_length(len(found), EVENTS_BYTES)
                (folder / name).write_bytes(found)


def _store(site: Site) -> S3FileSystem:
    if not site.s3_endpoint:
        return S3FileSystem(connect_timeout=_TIMEOUT_S)
    return S3FileSystem(
        access_key=site.s3_access_key,
        secret_key=site.s3_secret_key,
        endpoint_override=site.s3_endpoint,
        region=_REGION,
        connect_timeout=_TIMEOUT_S,
    )
