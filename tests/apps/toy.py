"""A page of a few lines, for the test that a page is one entry and one file."""

import streamlit as st

from pages.shared import frame, link, runs, show

settings = frame.settings()
result = runs.result_or_stop(settings)
view = show.switch("View", link.choices("toy_view"), "toy_view")
st.markdown(f"{view} of {result.graph.num_nodes}")
show.same_in_python(settings, "A toy", "print(r.graph.num_nodes)")
