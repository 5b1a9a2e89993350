"""Words that people have to give: a reason, a note, a comment. What nobody can see says nothing."""

from __future__ import annotations

import unicodedata

from approvals.edits import marks


def spoken(text: str) -> str:
    """What there is to read of a text, without the blanks around it: empty where no sign of it can be seen."""
    return text.strip() if any(map(_seen, text)) else ""


def _seen(char: str) -> bool:
    """A mark alone has no letter that it could stand on. Half a surrogate pair is no text at all, which is another
    fault than saying nothing."""
    if unicodedata.category(char) == "Cs":
        return True
    return not char.isspace() and not marks.unseen(char) and not unicodedata.category(char).startswith("M")
