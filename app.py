"""The frame of the app: page config, the shared controls and the navigation.

Start it with `make app`, or `streamlit run app.py`.
"""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.shared import background, controls, frame, header, lab, link, livemap
from pages.shared.pages import PAGES, page_named
from spear_core import Settings

st.set_page_config(page_title="SPEAR explorer", page_icon="🎯", layout="wide")
st.html(frame.STYLE + header.STYLE)
offered: dict[str, list[StreamlitPage]] = {}
for one in PAGES:
    first = one is PAGES[0]  # the default page has no path
    script = st.Page(one.script, title=one.title, url_path=one.name, default=first)
    offered.setdefault(one.group, []).append(script)
page = st.navigation(offered, position="top")
st.session_state["_page"] = page.url_path or PAGES[0].name
above = st.container(key="now")
header.draw(page_named(st.session_state["_page"]))
settings: Settings | None = None
with frame.kindly():
    settings = controls.settings()
if settings:
    with background.watched(frame.view(settings)), frame.kindly(), frame.around(settings):
        st.session_state[livemap.RUN_LINE] = lab.run_line(settings)
        lab.reminder(settings)
        page.run()
with frame.kindly():
    controls.draw(settings, above, lesson=page.url_path == "learn")
    if settings:
        link.write(settings)
