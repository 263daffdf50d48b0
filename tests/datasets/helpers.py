"""Small things the tests of loading do more than once."""

import os
import stat
from dataclasses import replace

from spear_core import Settings, load
from spear_core.datasets import CATALOGUE, _base, _load


def load_anew(name):
    _load.clear()
    _base.clear()
    return load(Settings(dataset=name))


def snapshot(folder):
    return {
        str(p.relative_to(folder)): (p.stat().st_size, p.stat().st_mtime_ns)
        for p in folder.rglob("*")
    }


def cut(path, share=0.6):
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def small(name, nodes, edges, monkeypatch):
    """The catalogue's entry with another published size."""
    entry = replace(CATALOGUE[name], nodes=nodes, edges=edges)
    monkeypatch.setitem(CATALOGUE, name, entry)
    return entry
