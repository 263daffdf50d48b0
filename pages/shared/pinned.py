"""The pinned setting: its run to compare with, and what it is in words."""

from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from pages.shared import controls, runs
from pages.shared.plain import plain
from spear_core import Result, Settings, SpearError
from spear_core.datasets import CATALOGUE, SYNTHETIC, store
from spear_core.fields import changed
from spear_core.measures.spread import percent, points
from spear_core.settings import equation, written

STYLE = """
<style>
.st-key-pinned_row { height: 2.8rem; overflow: auto; gap: 0; }
</style>
"""


def pinned_result(now: Result, **changes: Any) -> Result | None:
    """The run of the pinned setting, said in a line; None where there is none to be had.

    `changes` are settings that the page does not look at.
    """
    pinned, place = controls.pinned(), st.container()  # there without a pin too
    if pinned is None:
        return None
    said = _difference(pinned, now.settings, changes)
    entry = CATALOGUE[pinned.dataset]
    other = None
    if not store.on_disk(entry):
        said += f" {entry.name} is not on disk: choose it once, then it can be compared with."
    else:
        try:
            other = runs.result_of(replace(pinned, **changes))
            said += _limits(other, now)
        except SpearError as error:
            said += f" It cannot be run: {plain(error)}"
    numbers = f"**{both(other, now)}**  " if other else ""
    with place.container(key="pinned_row"):  # as high as it is, however much differs
        st.html(STYLE)
        st.caption(f":material/keep: {numbers}{said}")
    return other


def both(pinned: Result, now: Result) -> str:
    """Both accuracies and what lies between: "A 62.8 % · B 63.0 % · +0.2"."""
    a, b = pinned.metrics.accuracy, now.metrics.accuracy
    words = f"A {percent(a)} · B {percent(b)}"
    return words if a is None or b is None else f"{words} · {points(100 * (b - a))}"


def silhouettes_alike(pinned: Result, now: Result) -> str:
    """Why the silhouettes of both runs are the same, where they are."""
    one, two = pinned.metrics, now.metrics
    if (one.silhouette_raw, one.silhouette_smoothed) != (
        two.silhouette_raw,
        two.silhouette_smoothed,
    ):
        return ""
    return "A and B cannot differ here: only the data and how it is smoothed make a silhouette."


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
    words = [
        f"{equation(name, old)} (now {written(name, getattr(now, name))})"
        for name, old in changed(pinned, now).items()
        if name not in left_out
    ]
    if not words:
        return "Pinned: the present setting, so A and B are the same."
    return f"Pinned: A has {', '.join(words)}."
