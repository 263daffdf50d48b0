"""Your graph: files dropped here become a dataset, and a verdict says what to expect on it."""

from pages.parts import your_files, your_kept, your_verdict
from pages.shared import frame, link, runs, show

settings = frame.settings()
TABLES, *_ = link.choices("your_files")

show.sentence(
    "Your files are read on the machine that runs this app and go nowhere else. Nothing is kept "
    "before you have seen what was read; then it is a dataset like any other, on every page.",
    "your_graph",
)
kind = show.switch(
    "What you have", link.choices("your_files"), "your_files", label_visibility="collapsed"
)
files = your_files.uploaders(kind)
choices = your_files.choices(kind)
if choices is not None:
    your_files.preview(files, choices)
your_kept.draw(settings)
your_verdict.draw(settings)
result = runs.result_or_stop(settings)
your_verdict.words(result)
your_verdict.take_along(settings)
show.same_in_python(
    settings,
    f"Your graph: {settings.dataset}",
    "print(r.graph.num_nodes, r.graph.num_edges, r.graph.names)",
    "print(*r.graph.notes, sep='\\n')",
)
