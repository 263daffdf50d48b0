"""Imports go downwards only: one list ranks every module of the engine and the pages."""

import ast
import importlib
import subprocess
import sys
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

from tests.browser import ROOT

# From the ground up. A name stands for a module or for a folder with all that is in it; the
# longest name that fits a module is its own. A module may import what stands on a line above its
# own; within one line modules may know each other as long as they do not go round in circles.
RANKS = """
spear_core.errors spear_core.wanted
spear_core.memory spear_core.device spear_core.randomness spear_core.communities
spear_core.propagate
spear_core.fields
spear_core.lance spear_core.lance.ridge
spear_core.graph
spear_core.powers spear_core.exact
spear_core.datasets
spear_core.defences
spear_core.own
spear_core.settings
spear_core.partition
spear_core.lance.affinity
spear_core.lance.gate
spear_core.client
spear_core.defences.check
spear_core.transforms
spear_core.server
spear_core.classify
spear_core.measures
spear_core.run
spear_core.explicit spear_core.lance.explicit spear_core.grids spear_core.relatives
spear_core.sweeps
spear_core.studies
spear_core.baselines spear_core.federation spear_core.embed
spear_core.paper spear_core.verdict
spear_core.explain spear_core.exports
spear_core.figures
spear_core.lesson
spear_core.widgets
spear_core.cli
spear_core spear_core.__main__
pages.shared
pages.parts
pages app
"""
RANK = {name: i for i, line in enumerate(RANKS.split("\n")) for name in line.split()}
NEVER_AT_THE_START = ("torch_geometric", "plotly", "umap", "streamlit", "anywidget")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    name_of(path): path
    for path in chain(
        (ROOT / "spear_core").rglob("*.py"), (ROOT / "pages").rglob("*.py"), [ROOT / "app.py"]
    )
}


def rank_of(module: str) -> int:
    """Of the longest name in the list that is the module or a folder around it."""
    name = module
    while name not in RANK:
        assert "." in name, f"{module} is not in the list"
        name = name.rpartition(".")[0]
    assert name != "spear_core" or module == "spear_core", f"{module} is not in the list"
    return RANK[name]


def imported(module: str) -> set[str]:
    """The modules of ours that a module's code imports, at its top or inside a function.

    Importing a part of a folder runs the folder's own file first, unless one stands in it.
    """
    found = set()
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in FILES else node.module for name in whole]
        for name in names:
            folder = name.rpartition(".")[0]
            found |= {name} & FILES.keys()
            if folder.count(".") and not module.startswith(f"{folder}."):
                found |= {folder} & FILES.keys()
    return found - {module}


def test_every_module_has_its_place_and_every_place_a_module():
    for module in FILES:
        rank_of(module)
    used = {name for name in RANK if any(m == name or m.startswith(f"{name}.") for m in FILES)}
    assert set(RANK) == used


def test_imports_go_downwards():
    upwards = [
        f"{module} imports {other}"
        for module in sorted(FILES)
        for other in sorted(imported(module))
        if rank_of(other) > rank_of(module)
        or (other == "spear_core" and module.startswith("spear_core."))
    ]
    assert upwards == []


def test_no_module_imports_itself_through_others():
    within = {module: imported(module) for module in FILES}
    assert len(list(TopologicalSorter(within).static_order())) == len(FILES)


def test_an_import_upwards_is_seen():
    assert rank_of("spear_core.client") < rank_of("spear_core.run")
    assert rank_of("spear_core.defences.check") > rank_of("spear_core.defences.robust")
    assert "spear_core.client" in imported("spear_core.server")
    assert "spear_core.datasets" in imported("spear_core.settings")  # its file runs first


def test_no_folder_hides_a_module_behind_a_function():
    """Else `import folder.module as m` gives the function; the root's own steps are known to."""
    hidden = []
    for module in sorted(FILES):
        folder, _, name = module.rpartition(".")
        if folder.startswith("spear_core.") and name != "__main__":
            importlib.import_module(module)
            if getattr(sys.modules[folder], name) is not sys.modules[module]:
                hidden.append(module)
    assert hidden == []


def test_the_root_shows_the_method_alone():
    assert len(list((ROOT / "spear_core").glob("*.py"))) <= 18


def test_files_are_short_and_say_what_they_are():
    texts = {module: path.read_text(encoding="utf-8") for module, path in FILES.items()}
    assert [m for m, text in texts.items() if len(text.splitlines()) > 250] == []
    assert [m for m, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []


def test_tests_are_short_too():
    lines = {p: len(p.read_text("utf-8").splitlines()) for p in (ROOT / "tests").rglob("*.py")}
    assert [str(path.relative_to(ROOT)) for path, many in lines.items() if many > 350] == []


def test_the_command_line_starts_without_the_heavy_libraries():
    code = (
        "import sys\nfrom spear_core.cli import parser\nparser().format_help()\n"
        f"print([m for m in {NEVER_AT_THE_START!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
