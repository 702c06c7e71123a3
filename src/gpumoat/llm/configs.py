"""Configs that come with the package: published ones of models that people run, and defaults of model classes.

A config of the catalogue is one JSON file in ``data/configs`` whose ``config`` holds the fields as published, with
its source beside them. The defaults, in ``data/class_defaults.json``, are what the classes of the transformers library
take for a field that a file leaves out, as Gemma 3 files leave out the vocabulary.

Promises: nothing is fetched. Left out: weights, tokenizers, and anything that is no plain field.
"""

from __future__ import annotations

import json
from typing import Any

from gpumoat.llm.fields import ConfigError

_held: dict[str, Any] = {}


def class_defaults(family: str) -> dict[str, Any]:
    """Return what a family's class takes for fields that a config leaves out."""
    if "defaults" not in _held:
        _held["defaults"] = json.loads(_read("class_defaults.json"))["types"]
    found = _held["defaults"].get(family, {})
    return dict(found)


def config_ids() -> list[str]:
    """Return the ids of the configs that come with the package, in order."""
    return sorted(name[: -len(".json")] for name in _names() if name.endswith(".json"))


def config_entry(id: str) -> dict[str, Any]:
    """Return one entry of the catalogue: ``config`` as published, ``name``, and where it comes from.

    Raises:
        ConfigError: The catalogue has no such model.
    """
    if id not in config_ids():
        raise ConfigError(f"no model {id!r} in the catalogue: `gpumoat models` lists them")
    entry = json.loads(_read("configs/" + id + ".json"))
    if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
        raise ConfigError(f"the catalogue's {id!r} is damaged: it has no config")
    return entry


def _names() -> list[str]:
    from importlib.resources import files

    folder = files("gpumoat").joinpath("data", "configs")
    return [item.name for item in folder.iterdir()] if folder.is_dir() else []


def _read(name: str) -> str:
    from importlib.resources import files

    place = files("gpumoat").joinpath("data", *name.split("/"))
    return place.read_text(encoding="utf-8")
