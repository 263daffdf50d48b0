"""The controls of the explorer: one for each field of `Settings` that it moves."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as ui

from spear_core.datasets import store
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.stops import BETAS, CLIENTS, ENDS, GAMMAS, MOST_ALPHA, MOST_STEPS
from spear_core.lance import ESTIMATORS, estimator_of
from spear_core.settings import Settings, choices, defaults, titled, told, written

CUSTOM = "custom"
IN_ORDER = ("beta", "clients", "alpha", "steps", "gamma", "attacker_count", "defence", "seed")


class Controls:
    """A widget for every setting that can be moved; `moved` is called with what has changed."""

    def __init__(self, settings: Settings, moved: Callable[[dict[str, Any]], None]) -> None:
        self._moved, self._putting = moved, False
        self._stops: dict[str, set[Any]] = {
            "beta": set(BETAS),
            "clients": set(CLIENTS),
            "gamma": set(GAMMAS),
        }
        stops: dict[str, Any] = {name: ui.SelectionSlider(options=[0]) for name in self._stops}
        self.by_name: dict[str, Any] = {
            "dataset": ui.Dropdown(),
            "estimator": ui.Dropdown(),
            **stops,
            "alpha": ui.FloatSlider(min=0, max=MOST_ALPHA, step=0.01, readout_format=".2f"),
            "steps": ui.IntSlider(min=0, max=MOST_STEPS),
            "attacker_count": ui.IntSlider(min=0, max=1),
            "defence": ui.Dropdown(options=list(choices("defence"))),
            "seed": ui.BoundedIntText(min=0, max=2**32 - 1),
        }
        self.put(settings)
        for name, widget in self.by_name.items():
            widget.description = "Estimator" if name == "estimator" else titled(name)
            widget.tooltip = "Who reads the message" if name == "estimator" else told(name)
            widget.add_class("spear-control")
            widget.observe(self._taker(name), "value")
        below = [part for name in IN_ORDER for part in (self.by_name[name], *_ends(name))]
        above = [self.by_name["dataset"], self.by_name["estimator"]]
        self.box = ui.VBox([*above, *below]).add_class("spear-controls")

    def put(self, settings: Settings) -> None:
        """Set every control to these settings; nobody is told."""
        self._putting = True
        try:
            if self.by_name["dataset"].value != settings.dataset:
                self._offer("dataset", _datasets(), settings.dataset)
            name = estimator_of(settings)
            names = [*ESTIMATORS, CUSTOM] if name == CUSTOM else list(ESTIMATORS)
            self._offer("estimator", [(one, one) for one in names], name)
            for field, stops in self._stops.items():
                value = getattr(settings, field)
                stops.add(value)  # one between the stops becomes one and stays
                self._offer(field, [(written(field, v), v) for v in sorted(stops)], value)
            self.by_name["attacker_count"].max = max(settings.clients, settings.attacker_count)
            for field in ("alpha", "steps", "attacker_count", "seed", "defence"):
                widget, value = self.by_name[field], getattr(settings, field)
                if field in ("alpha", "steps"):
                    widget.max = max(widget.max, value)
                widget.value = value
            self.by_name["gamma"].disabled = settings.head == "ridge"  # it knows no λ
            self.by_name["attacker_count"].disabled = settings.attackers == "chosen"
        finally:
            self._putting = False

    def _offer(self, name: str, options: Sequence[tuple[str, Any]], value: Any) -> None:
        widget = self.by_name[name]
        if tuple(widget.options) != tuple(options):
            widget.options = options
        widget.value = value

    def _taker(self, name: str) -> Callable[[Any], None]:
        """What is called when one control was moved by hand."""

        def take(change: Any) -> None:
            value = change["new"]
            if self._putting or value == CUSTOM:
                return
            if name == "estimator":
                self._moved(dict(ESTIMATORS[value]))
            elif name == "dataset":  # it brings its own number of clients
                self._moved({"dataset": value, "clients": defaults(value).clients})
            else:
                self._moved({name: value})

        return take


def _ends(name: str) -> list[ui.HTML]:
    """What the two ends of a slider mean, below it."""
    if name not in ENDS:
        return []
    low, high = ENDS[name]
    words = f"<span>{escape(low)}</span><span>{escape(high)}</span>"
    return [ui.HTML(f'<div class="spear-ends" aria-hidden="true">{words}</div>')]


def _datasets() -> list[tuple[str, str]]:
    """Every dataset, with what choosing it would download."""
    out = []
    for entry in CATALOGUE.values():
        size = "" if store.on_disk(entry) else f" (downloads {entry.megabytes:g} MB)"
        out.append((entry.name + size, entry.name))
    return out
