"""What the version of the engine is made from: the source that a run's numbers come from."""

import shutil
from pathlib import Path

import pytest

import spear_core
from spear_core.sweeps.store import FOLDERS, version, version_of

ENGINE = Path(spear_core.__file__).parent
OTHERS = {  # folders that no measure of a sweep comes from
    "baselines",
    "cli",
    "embed",
    "explain",
    "exports",
    "federation",
    "figures",
    "lesson",
    "own",
    "paper",
    "relatives",
    "studies",
    "verdict",
    "widgets",
}


@pytest.fixture
def copy(tmp_path):
    """The engine's source in a folder of its own."""
    only = shutil.ignore_patterns("__pycache__", "*.csv", "*.npz", "*.json")
    return shutil.copytree(ENGINE, tmp_path / "spear_core", ignore=only)


def test_the_same_source_has_the_same_version(copy):
    assert version_of(copy) == version()


@pytest.mark.parametrize("folder", [".", *FOLDERS])
def test_a_changed_new_or_removed_file_is_another_version(copy, folder):
    file = max((copy / folder).glob("*.py"), key=lambda path: path.stat().st_size)
    before = file.read_text()
    file.write_text(before + "\n# changed\n")
    changed = version_of(copy)
    file.unlink()
    gone = version_of(copy)
    file.write_text(before)
    (copy / folder / "new.py").write_text("NEW = 1\n")
    assert len({version(), changed, gone, version_of(copy)}) == 4


@pytest.mark.parametrize("folder", sorted(OTHERS))
def test_what_no_measure_comes_from_does_not_count(copy, folder):
    (copy / folder / "__init__.py").write_text("# changed\n")
    assert version_of(copy) == version()


def test_every_folder_counts_or_is_known_not_to():
    """A new folder has to be put into one of the two lists, and none below them is passed over."""
    found = {path.parent for path in ENGINE.rglob("*.py")} - {ENGINE}
    assert {path.relative_to(ENGINE).parts[0] for path in found} == {*FOLDERS, *OTHERS}
    assert {str(p.relative_to(ENGINE)) for p in found if p.parent.name in FOLDERS} == set()
