"""Forms as a browser handles them: reads a page's form, changes what a person would change, and gives what is sent.

Line ends become CR LF, a text area drops its first line feed, a select without a choice sends its first option, and of
the buttons only the pressed one is sent (HTML, "constructing the entry list").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Control:
    """A control of a form: its name, its value as a browser holds it, its classes, and for a select its options."""

    name: str
    value: str
    kind: str
    classes: frozenset[str] = frozenset()
    options: dict[str, str] = field(default_factory=dict)


class Form(HTMLParser):
    """The first form of a page that matches, with its controls in the order of the page."""

    def __init__(self, html: str, action: str = "") -> None:
        super().__init__(convert_charrefs=True)
        self.controls: list[Control] = []
        self.buttons: list[tuple[str, str]] = []
        self.action = ""
        self._wanted, self._inside, self._done = action, not action, False
        self._text: list[str] | None = None
        self._chosen = False
        self.feed(html)
        self.close()

    def __getitem__(self, name: str) -> str:
        return self.control(name).value

    def __setitem__(self, name: str, value: str) -> None:
        control = self.control(name)
        assert control.kind != "select" or value in control.options, f"{name} offers {list(control.options)}"
        control.value = value.replace("\r\n", "\n").replace("\r", "\n")
        if control.kind == "line":
            control.value = control.value.replace("\n", "")

    def __contains__(self, name: str) -> bool:
        return any(one.name == name for one in self.controls)

    def control(self, name: str) -> Control:
        found = [one for one in self.controls if one.name == name]
        assert len(found) == 1, f"{len(found)} controls are called {name}; there are {self.names()}"
        return found[0]

    def names(self) -> list[str]:
        return [one.name for one in self.controls]

    def sent(self, do: str | None = None) -> list[tuple[str, str]]:
        """What is sent when the button of this value is pressed; None for a form that sends itself."""
        pressed = [] if do is None else [(name, value) for name, value in self.buttons if value == do][:1]
        assert do is None or pressed, f"No button says {do}; there are {[value for _, value in self.buttons]}"
        return [(one.name, one.value.replace("\n", "\r\n")) for one in self.controls] + pressed

    def posted(self, do: str | None = None) -> dict[str, list[str]]:
        """The same as a view gets it."""
        lists: dict[str, list[str]] = {}
        for name, value in self.sent(do):
            lists.setdefault(name, []).append(value)
        return lists

    # Reading

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and self._wanted and not self._done:
            self._inside = self._wanted in given.get("action", "")
            self.action = given.get("action", "") if self._inside else self.action
        if self._inside and "disabled" not in given:
            self._control(tag, given)

    def _control(self, tag: str, given: dict[str, str]) -> None:
        name, classes = given.get("name", ""), frozenset(given.get("class", "").split())
        if tag == "input" and name:
            kind = "hidden" if given.get("type") == "hidden" else "line"
            value = given.get("value", "").replace("\r\n", "\n").replace("\r", "\n")
            self.controls.append(Control(name, value if kind == "hidden" else value.replace("\n", ""), kind, classes))
        elif tag == "button" and name:
            self.buttons.append((name, given.get("value", "")))
        elif tag == "textarea" and name:
            self.controls.append(Control(name, "", "area", classes))
            self._text = []
        elif tag == "select" and name:
            self.controls.append(Control(name, "", "select", classes))
            self._chosen = False
        elif tag == "option":
            self._take_option(given)

    def _take_option(self, given: dict[str, str]) -> None:
        select = self.controls[-1]
        select.options[given.get("value", "")] = ""
        if "selected" in given or (len(select.options) == 1 and not self._chosen):
            select.value = given.get("value", "")
            self._chosen = "selected" in given

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)
        elif self.lasttag == "option" and self._inside and self.controls[-1].options:
            last = list(self.controls[-1].options)[-1]
            self.controls[-1].options[last] += data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text is not None:
            text = "".join(self._text).replace("\r\n", "\n").replace("\r", "\n")
            self.controls[-1].value = text.removeprefix("\n")
            self._text = None
        if tag == "form" and self._wanted and self._inside:
            self._inside, self._done = False, True
