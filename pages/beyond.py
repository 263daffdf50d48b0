"""Beyond: from SPEAR to LANCE in steps, what it costs, and where it loses."""

import streamlit as st

from pages.parts import beyond_views
from pages.shared import frame, link, runs, show

settings = beyond_views.clean(frame.settings())
result = runs.result_or_stop(settings)
st.markdown(
    "**LANCE** reads a message of SPEAR's shape better, and still nothing is trained: clients "
    "smooth harder where neighbours are alike (*gate*), the server solves one regression over all "
    "sums (*ridge*), and clients may add a few rows that their means leave out (*sketch*)."
)
view = show.switch("View", link.choices("beyond"), "beyond", label_visibility="collapsed")
tables, lines = beyond_views.VIEWS[view](result)
show.export(tables)
show.same_in_python(settings, f"From SPEAR to LANCE on {settings.dataset}", *lines)
