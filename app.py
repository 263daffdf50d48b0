"""The frame of the app: page config, the shared controls and the navigation.

Start it with `make app`, or `streamlit run app.py`.
"""

import logging

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.shared import controls, frame, lab, link
from pages.shared.pages import PAGES
from spear_core import SpearError

st.set_page_config(page_title="SPEAR explorer", page_icon="🎯", layout="wide")
st.html(frame.STYLE)
offered: dict[str, list[StreamlitPage]] = {}
for one in PAGES:
    first = one is PAGES[0]  # the default page has no path
    script = st.Page(one.script, title=one.title, url_path=one.name, default=first)
    offered.setdefault(one.group, []).append(script)
page = st.navigation(offered, position="top")
st.session_state["_page"] = page.url_path or PAGES[0].name
try:
    settings = controls.settings()
except SpearError as error:  # values that do not go together
    st.error(str(error))
    controls.draw()
    st.stop()
try:
    with frame.around(settings):
        lab.reminder(settings)
        page.run()
except SpearError as error:
    st.error(str(error))
except Exception:  # a fault of ours: said kindly, kept in the log
    logging.exception("The page failed")
    st.error("This page could not be drawn; 'Paper defaults' brings it back. The log says why.")
controls.draw(lesson=page.url_path == "learn")
link.write(settings)
