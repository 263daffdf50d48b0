"""The pinned setting: its run to compare with, and what it is in words."""

from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from pages.shared import controls, runs
from spear_core import Result, Settings, SpearError
from spear_core.datasets import CATALOGUE, SYNTHETIC, store
from spear_core.settings import FIELDS, equation, written


def pinned_result(now: Result, **changes: Any) -> Result | None:
    """The run of the pinned setting, said in a line; None where there is none to be had.

    `changes` are settings that the page does not look at.
    """
    pinned = controls.pinned()
    if pinned is None:
        return None
    said = _difference(pinned, now.settings, changes)
    entry = CATALOGUE[pinned.dataset]
    other = None
    if not entry.builtin and not store.found(entry):
        said += f" {entry.name} is not on disk: choose it once, then it can be compared with."
    else:
        try:
            other = runs.result_of(replace(pinned, **changes))
            said += _limits(other, now)
        except SpearError as error:
            said += f" It cannot be run: {error}"
    st.caption(f":material/keep: {said}")
    return other


def same_graph(one: Result | None, two: Result) -> Result | None:
    """The first run, if it has the nodes and classes of the second."""
    if one is None:
        return None
    kinds = ("dataset", *SYNTHETIC) if one.settings.dataset == "synthetic" else ("dataset",)
    same = all(getattr(one.settings, name) == getattr(two.settings, name) for name in kinds)
    return one if same else None


def _limits(other: Result, now: Result) -> str:
    if not same_graph(other, now):
        return " That is another graph: what is drawn by node or by class shows this run alone."
    if not torch.equal(other.partition.owner, now.partition.owner):
        return " Its split is another one, so client 0 there is not client 0 here."
    return ""


def _difference(pinned: Settings, now: Settings, left_out: dict[str, Any]) -> str:
    """Both values of every setting that differs."""
    both = {name: (getattr(pinned, name), getattr(now, name)) for name in FIELDS}
    words = [
        f"{equation(name, old)} (now {written(name, new)})"
        for name, (old, new) in both.items()
        if old != new and name not in left_out
    ]
    return f"Pinned: {', '.join(words)}." if words else "Pinned: the present setting."
