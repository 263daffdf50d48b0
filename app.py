"""The frame of the app: page config, the shared controls and the navigation.

Start it with `make app`, or `streamlit run app.py`.
"""

import logging

import streamlit as st

from pages.shared import controls, frame, lab, link
from spear_core import SpearError

st.set_page_config(page_title="SPEAR explorer", page_icon="🎯", layout="wide")
st.html(frame.STYLE)
page = st.navigation(
    [
        st.Page("pages/explore.py", title="Explore", url_path="explore", default=True),
        st.Page("pages/learn.py", title="Learn", url_path="learn"),
        st.Page("pages/split.py", title="Split", url_path="split"),
        st.Page("pages/smooth.py", title="Smooth", url_path="smooth"),
        st.Page("pages/shrink.py", title="Shrink", url_path="shrink"),
        st.Page("pages/noise.py", title="Noise", url_path="noise"),
        st.Page("pages/attack.py", title="Attack", url_path="attack"),
        st.Page("pages/privacy.py", title="Privacy", url_path="privacy"),
        st.Page("pages/sensitivity.py", title="Sensitivity", url_path="sensitivity"),
        st.Page("pages/paper.py", title="Paper", url_path="paper"),
        st.Page("pages/compare.py", title="Compare", url_path="compare"),
        st.Page("pages/deploy.py", title="Deploy", url_path="deploy"),
    ],
    position="top",
)
st.session_state["_page"] = page.url_path or "explore"  # the default page has no path
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
