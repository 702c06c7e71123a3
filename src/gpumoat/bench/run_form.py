"""The form of a run's file, which all measuring scripts write and ``gpumoat.facts`` reads."""

import datetime
from collections.abc import Mapping
from typing import Any


def run_form(
    id: str,
    title: str,
    made_on: tuple[str, str, Mapping[str, str]],
    script: str,
    results: Mapping[str, tuple[float, str, str]],
    raw: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a run as it is kept, dated today.

    Args:
        id: The run's id.
        title: What was measured, in a line.
        made_on: The device, its driver, and the versions of what ran.
        script: The script that measured.
        results: Of each name the value in base units, the unit and what it is.
        raw: All that was read, as it was read.
    """
    device, driver, versions = made_on
    return {
        "schema": 1,
        "id": id,
        "title": title,
        "device": device,
        "driver": driver,
        "versions": dict(versions),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "script": script,
        "results": {
            name: {"value": value, "unit": unit, "what": what} for name, (value, unit, what) in results.items()
        },
        "raw": raw,
    }
