"""The one error of the simulator, so that a reader sees one clear line and not a traceback through generated code."""


class SimtError(Exception):
    """A kernel, a launch or an argument that the simulator cannot run; the message names what, and where."""


def located(file: str, line: int, text: str) -> SimtError:
    """Return the error for a place in a source file."""
    return SimtError(f"{file}:{line}: {text}")
