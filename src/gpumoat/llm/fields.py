"""Fields of a published config, read with care: other names, ``null``, wrong types, defaults of the class.

A config file leaves out what its model class has as a default, renames what another family names otherwise, and may
hold anything at all, because people edit it. Each getter either returns a value that makes sense or raises one
`ConfigError` that names the field and says what would be right.

Promises: no number is negative, absurdly large, a text or a truth value; a field that stands under several names is
found under each; what was not in the file and had to be assumed is kept in ``assumed``, so that it can be shown.
Left out: what a field means; the readers of the families know that.
"""

from __future__ import annotations

from typing import Any

LARGEST_SIZE = 2**31 - 1
"""The largest size of a matrix that is believed: more is a slip of the keyboard or a broken file."""

LARGEST_COUNT = 2**48
"""The largest count of tokens or positions that is believed."""

MOST_LAYERS = 10_000
"""The most layers that are believed; each is looked at, so a config cannot ask for endless work."""


class ConfigError(ValueError):
    """A config that cannot be read: one line with the field and what would be right."""


class Fields:
    """The fields of one config object.

    Attributes:
        data: The object as published.
        defaults: What the model's class takes for a field that the file leaves out.
        assumed: What was assumed, one line each; shared with the objects inside.
        where: What messages put before a field's name, such as ``text_config.``.
    """

    def __init__(
        self,
        data: dict[str, Any],
        defaults: dict[str, Any] | None = None,
        assumed: list[str] | None = None,
        where: str = "",
        fallback: dict[str, Any] | None = None,
    ) -> None:
        self.data = data
        self.defaults = defaults or {}
        self.assumed = [] if assumed is None else assumed
        self.where = where
        self.fallback = fallback or {}

    def find(self, names: str) -> tuple[str, Any]:
        """Return the first of some names, separated by spaces, that the config gives a value, and the value."""
        known = names.split()
        for place in (self.data, self.fallback):
            for name in known:
                if place.get(name) is not None:
                    return name, place[name]
        # A field that is there and is null says "nothing"; only one that is left out is the class's to say.
        if not any(name in self.data for name in known):
            for name in known:
                if self.defaults.get(name) is not None:
                    return name, self.defaults[name]
        return known[0], None

    def has(self, names: str) -> bool:
        """Say whether the file itself, not the class, gives one of the names a value."""
        return any(self.data.get(name) is not None or self.fallback.get(name) is not None for name in names.split())

    def number(
        self, names: str, default: int | None = None, least: int = 1, most: int = LARGEST_SIZE, why: str = ""
    ) -> int:
        """Return a whole number.

        Args:
            names: The field's names, best first, separated by spaces.
            default: What it is where neither the file nor the class says; missing is an error without it.
            least: The least that makes sense.
            most: The most that is believed.
            why: What is assumed when ``default`` is used; noted for the reader if given.

        Raises:
            ConfigError: The field is missing, no whole number, or out of bounds.
        """
        name, value = self.find(names)
        if value is None:
            if default is None:
                others = ", ".join(names.split()[1:])
                hint = f" (also read as {others})" if others else ""
                raise ConfigError(f"{self.where}{name} is missing{hint}: it must be a whole number of at least {least}")
            if why:
                self.assume(f"{name} = {default}: {why}")
            return default
        if default is None and not self.has(name):
            self.assume(f"{self.where}{name} = {value}: left out by the file, the default of the model's class")
        return self.check(name, value, least, most)

    def check(self, name: str, value: Any, least: int = 1, most: int = LARGEST_SIZE) -> int:
        """Return a value as a whole number, or raise a ``ConfigError`` that names the field."""
        if isinstance(value, float) and value == value and abs(value) < LARGEST_COUNT and value == int(value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ConfigError(f"{self.where}{name} must be a whole number from {least} to {most}, not {_shown(value)}")
        return int(value)

    def decimal(self, names: str, default: float, least: float = 0.0, most: float = 1e6) -> float:
        """Return a number that need not be whole.

        Raises:
            ConfigError: The field is no number, or out of bounds.
        """
        name, value = self.find(names)
        if value is None:
            return default
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
            raise ConfigError(f"{self.where}{name} must be a number from {least:g} to {most:g}, not {_shown(value)}")
        return float(value)

    def flag(self, names: str, default: bool = False) -> bool:
        """Return a truth value; 0 and 1 are taken as one.

        Raises:
            ConfigError: The field is neither.
        """
        name, value = self.find(names)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        if isinstance(value, int) and value in (0, 1):
            return value == 1
        raise ConfigError(f"{self.where}{name} must be true or false, not {_shown(value)}")

    def text(self, names: str, default: str = "") -> str:
        """Return a text.

        Raises:
            ConfigError: The field is no text.
        """
        name, value = self.find(names)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ConfigError(f"{self.where}{name} must be a text, not {_shown(value)}")
        return value

    def items(self, names: str) -> list[Any] | None:
        """Return a list, or None where there is none.

        Raises:
            ConfigError: The field is no list.
        """
        name, value = self.find(names)
        if value is None:
            return None
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{self.where}{name} must be a list, not {_shown(value)}")
        return list(value)

    def numbers(self, names: str, least: int = 0, most: int = LARGEST_SIZE) -> list[int] | None:
        """Return a list of whole numbers, or None where there is none."""
        found = self.items(names)
        if found is None:
            return None
        name = self.find(names)[0]
        return [self.check(f"{name}[{place}]", value, least, most) for place, value in enumerate(found)]

    def inner(self, name: str, defaults: dict[str, Any] | None = None) -> Fields | None:
        """Return the fields of an object inside, or None where there is none.

        Raises:
            ConfigError: The field is no object.
        """
        value = self.data.get(name)
        if value is None:
            value = self.fallback.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ConfigError(f"{self.where}{name} must be an object, not {_shown(value)}")
        return Fields(value, defaults, self.assumed, f"{self.where}{name}.")

    def assume(self, text: str) -> None:
        """Note something that the file does not say."""
        if text not in self.assumed:
            self.assumed.append(text)

    def one_of(self, name: str, value: str, known: str) -> str:
        """Return a text that must be one of some words, or raise a ``ConfigError``."""
        if value not in known.split():
            raise ConfigError(f"{self.where}{name} must be one of {', '.join(known.split())}, not {_shown(value)}")
        return value


def _shown(value: Any) -> str:
    """Return a value as a message shows it: on one line, and short."""
    if isinstance(value, (dict, list, tuple)):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**18:
        return "a number of more than 18 digits"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
