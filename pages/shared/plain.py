"""Text that came from a link, a file or a report, as Streamlit's Markdown shows it: unchanged."""

import re

from spear_core.errors import one_line

JOINER = "\u2060"  # takes no room and is no letter: what it stands in is no address and no icon
MARKS = re.compile(r"[\\`*{}\[\]<>#!|~$&]|(?<!\w)_|_(?!\w)|^[-+=]")
NUMBERED = re.compile(r"^(\d{1,9})(?=[.)])")  # the head of an ordered list
# addresses and :icons: are found in the text after escapes are gone, so they are taken apart
NAMES = re.compile(r":(?=\S)|@(?=\S)|www(?=\.)", re.IGNORECASE)


def plain(text: object, most: int = 200) -> str:
    """The text on one line, at most so long, with nothing left that Markdown would make of it.

    >>> plain("![a](b) and **c**\\nd")
    '\\\\!\\\\[a\\\\](b) and \\\\*\\\\*c\\\\*\\\\* d'
    """
    line = one_line(text)
    line = line if len(line) <= most else line[: most - 1] + "…"
    line = MARKS.sub(r"\\\g<0>", NAMES.sub(lambda found: found[0] + JOINER, line))
    return NUMBERED.sub(r"\1\\", line)
