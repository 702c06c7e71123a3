"""Accelerators and models as catalogue objects: a typed view on facts.

``gpu("h200-sxm").memory_bytes`` reads the fact ``h200-sxm.memory_bytes``, with a source of its own; a field such as
``form_factor`` is a fact whose value is text. A field that we measured ourselves comes from the committed run that
the catalogue names for it. A field is read when it is asked for and not before, so a number rests on the fields that
made it and on no others.

Standard library only; runs on MicroPython.
"""

from typing import Any

from gpumoat.facts import DataError, fact, fact_text, measured, near, registry


class Subject:
    """A thing of the catalogue, such as a card or a model; its fields are facts.

    Attributes:
        id: The catalogue's key, such as ``"h200-sxm"``.
        name: How people call it, such as ``"NVIDIA H200 SXM"``.
    """

    __slots__ = ("id", "name")  # a field of the catalogue is what its source says: it cannot be set
    frozen = True  # the execution record need not fear that a call changes it

    def __init__(self, id: str, name: str) -> None:
        self.id = id
        self.name = name

    def __getattr__(self, field: str) -> Any:
        # Called only for what is no plain attribute: a field of the catalogue.
        if field.startswith("_"):
            raise AttributeError(field)
        runs = registry().subjects[self.id].row.get("measured", {})
        if isinstance(runs, dict) and field in runs:
            run, key = str(runs[field]).split(".")
            return measured(run, key)
        record = registry().facts.get(self.id + "." + field)
        if record is not None:
            return fact_text(record.id) if isinstance(record.row.get("value"), str) else fact(record.id)
        known = sorted(key.split(".")[1] for key in registry().facts if key.startswith(self.id + "."))
        raise AttributeError(f"{self.id} has no {field!r} in the catalogue: it has {', '.join(known)}")

    def __repr__(self) -> str:
        return f"Subject({self.id!r})"


def subject(kind: str, id: str) -> Subject:
    """Return a thing of the catalogue.

    Raises:
        DataError: The catalogue has no such id of that kind.
    """
    rows = registry().subjects
    known = [key for key, row in rows.items() if row.text("kind") == kind]
    if id not in known:
        hint = near(id, known) or f": the catalogue has {', '.join(sorted(known))}"
        raise DataError(f"no {kind} {id!r}{hint}")
    return Subject(id, rows[id].text("name"))


def gpu(id: str) -> Subject:
    """Return an accelerator of the catalogue, such as ``gpu("h200-sxm")``.

    Raises:
        DataError: The catalogue has no such card.
    """
    return subject("gpu", id)


def model(id: str) -> Subject:
    """Return a model of the catalogue, such as ``model("gpt3")``.

    Raises:
        DataError: The catalogue has no such model.
    """
    return subject("model", id)
