"""One string says with what numbers were made, and every store of numbers keeps that one."""

import ast
import platform

import numpy as np
import torch

from spear_core.measures.versions import versions
from tests.browser import ROOT


def test_versions_are_those_that_run():
    said = versions().split(", ")
    assert said[:3] == [
        f"Python {platform.python_version()}",
        f"torch {torch.__version__}",
        f"numpy {np.__version__}",
    ]


def test_nobody_makes_a_string_of_their_own():
    asked = {
        path.name
        for path in (ROOT / "spear_core").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.keyword)
        and node.arg == "versions"
        and isinstance(node.value, (ast.JoinedStr, ast.BinOp))
    }
    assert asked == set()
