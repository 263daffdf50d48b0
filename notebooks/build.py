"""Build the notebooks: every percent script beside this file becomes an .ipynb with its outputs.

`make notebooks` runs it. Figures are kept as pictures, which every viewer shows, with a digest of
their data, and a widget as the still picture it leaves; `make test` runs the scripts again and
compares digests, formulas and printed text. What is tagged `cora` needs that graph's files.
"""

import base64
import io
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image, ImageOps

HERE = Path(__file__).resolve().parent
FIGURE, HTML = "application/vnd.plotly.v1+json", "text/html"
SIZE = {"width": 900, "scale": 1}
PAPER = {"template": "plotly_white", "paper_bgcolor": "white", "plot_bgcolor": "white"}
WIDGET = "application/vnd.jupyter.widget-view+json"
STILL = (
    "spear-still"  # what puts a widget's picture in its place in JupyterLab has this in its name
)
TIMED = "timed"  # tag of a cell whose output depends on the machine
CORA = "cora"  # tag of a cell that needs Cora's files


def sources() -> list[Path]:
    """The scripts in reading order."""
    return sorted(HERE.glob("[0-9]*.py"))


def execute(notebook: NotebookNode, timeout: int = 600) -> NotebookNode:
    """Run every cell in a fresh kernel; figures stay data, and of a widget its picture stays."""
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"  # the kernel inherits it
    NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        coalesce_streams=True,  # how prints fall into pieces is chance
        store_widget_state=False,  # nothing shows it without a kernel
        resources={"metadata": {"path": str(HERE.parent)}},
    ).execute()
    for cell in notebook.cells:
        for out in cell.get("outputs", []):
            out.get("data", {}).pop(WIDGET, None)
        cell_outputs = cell.get("outputs", [])
        cell_outputs[:] = [o for o in cell_outputs if STILL not in o.get("data", {}).get(HTML, "")]
    return notebook


def read(script: Path, cora: bool = True) -> NotebookNode:
    """The notebook of a script, without outputs; without `cora` what needs that graph is empty."""
    notebook = jupytext.read(script)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # jupytext draws one at random
        if CORA in cell.metadata.get("tags", []) and not cora:
            cell["source"] = ""
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return notebook


def outputs(notebook: NotebookNode) -> Iterator[tuple[int, dict[str, Any]]]:
    """What every cell printed and drew, in a form that can be compared: text or a digest."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or TIMED in cell.metadata.get("tags", []):
            continue
        for out in cell.outputs:
            data = out.get("data", {})
            if FIGURE in data:
                yield number, {"figure": digest(data[FIGURE])}
            elif "digest" in out.get("metadata", {}):
                yield number, {"figure": out.metadata["digest"]}
            elif "text/latex" in data:
                yield number, {"text": data["text/latex"].strip()}
            elif "text/plain" in data:
                yield number, {"text": data["text/plain"].strip()}
            elif out.output_type == "stream" and out.name == "stdout":
                yield number, {"text": out.text.strip()}


def digest(figure: dict[str, Any]) -> list[list[Any]]:
    """Kind, length and sums of every trace: enough to notice other data, not a last digit."""
    out = []
    for trace in figure["data"]:
        numbers = [v for axis in ("x", "y", "z") for v in _numbers(trace.get(axis))]
        total, size = math.fsum(numbers), math.fsum(abs(v) for v in numbers)
        out.append([trace.get("type", "scatter"), len(numbers), total, size])
    return out


def _numbers(values: Any) -> Iterator[float]:
    """Every finite number in a list of lists, or in plotly's packed form of an array."""
    if isinstance(values, dict) and "bdata" in values:
        import numpy as np

        packed = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
        values = packed.astype(float).tolist()
    for value in values if isinstance(values, list) else []:
        if isinstance(value, list):
            yield from _numbers(value)
        elif isinstance(value, int | float) and math.isfinite(value):
            yield float(value)


def picture(notebook: NotebookNode) -> NotebookNode:
    """Figures as pictures, each with the digest of its data."""
    import plotly.io

    for cell in notebook.cells:
        for out in cell.get("outputs", []):
            if FIGURE in out.get("data", {}):
                figure = out["data"].pop(FIGURE)
                figure.pop("config", None)
                shown = plotly.io.from_json(json.dumps(figure), skip_invalid=True)
                shown.update_layout(PAPER)
                image = cropped(shown.to_image("png", **SIZE))
                out["data"] = {"image/png": base64.b64encode(image).decode()}
                out["metadata"] = {"digest": digest(figure)}
    return notebook


def cropped(png: bytes) -> bytes:
    """The picture without what is empty below it: some figures keep room that a page needs."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    box = ImageOps.invert(image.convert("L")).getbbox()
    if box is None or box[3] > image.height - 40:
        return png
    out = io.BytesIO()
    image.crop((0, 0, image.width, box[3] + 16)).save(out, "PNG", optimize=True)
    return out.getvalue()


def build(script: Path) -> Path:
    """Run one script and write its notebook."""
    made = picture(execute(read(script)))
    for cell in made.cells:
        cell.metadata.pop("execution", None)  # times of day
    target = script.with_suffix(".ipynb")
    nbformat.write(made, target)
    return target


def main(names: list[str]) -> None:
    """Build all, or those whose file name contains one of the words."""
    import kaleido

    wanted = [s for s in sources() if not names or any(name in s.name for name in names)]
    kaleido.start_sync_server(silence_warnings=True)
    try:
        for script in wanted:
            start = time.perf_counter()
            made = build(script).relative_to(HERE.parent)
            print(f"{made} in {time.perf_counter() - start:.0f} s", flush=True)
    finally:
        kaleido.stop_sync_server()


if __name__ == "__main__":
    main(sys.argv[1:])
