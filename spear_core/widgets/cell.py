"""What a widget leaves in a saved notebook: a still picture, for readers without its kernel.

Where there is no widget to be had a viewer shows the `image/png` beside it. JupyterLab does not, in
a notebook that it trusts: it says "model not found". A second output, of style alone, puts the
picture in the place of those words; it draws nothing itself and is nothing where style is left out.
"""

import base64
import hashlib
from typing import Any

import ipywidgets as ui
from IPython.display import HTML, display

# JupyterLab's output of a widget whose model is gone has words in it, but no element
STYLE = """<style>
.jp-OutputArea-child:has(+ .jp-OutputArea-child .{name}) > .jupyter-widgets:not(:has(*)) {{
  font-size: 0; }}
.jp-OutputArea-child:has(+ .jp-OutputArea-child .{name}) > .jupyter-widgets:not(:has(*))::before {{
  content: ""; display: block; max-width: {width}px; aspect-ratio: {width} / {height};
  background: url("data:image/png;base64,{data}") left top / 100% no-repeat; }}
.jp-OutputArea-child:has(> * > .{name}) {{ display: none; }}
</style><div class="{name}"></div>"""


class Cell(ui.VBox):
    """A widget that fills a cell."""

    def still(self) -> tuple[bytes, int, int]:
        """The picture as PNG, and the width and height at which it is shown."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = dict(super()._repr_mimebundle_(**kwargs))
        data, width, height = self.still()
        bundle["image/png"] = base64.b64encode(data).decode()
        bundle["text/plain"] = repr(self)
        return bundle, {"image/png": {"width": width, "height": height}}

    def _ipython_display_(self, **_: Any) -> None:
        bundle, look = self._repr_mimebundle_()
        display(bundle, metadata=look, raw=True)
        width, height = look["image/png"].values()
        data = bundle["image/png"]
        name = "spear-still-" + hashlib.sha256(data.encode()).hexdigest()[:12]
        display(HTML(STYLE.format(name=name, width=width, height=height, data=data)))
