"""The one error that stops a build: it names the file, the line, and what would be right."""

from pathlib import Path

try:  # MkDocs prints a BuildError without a traceback; the rest of the package works without MkDocs.
    from mkdocs.exceptions import BuildError as _Base
except ImportError:  # pragma: no cover - only in an installation without the site group
    _Base = Exception  # type: ignore[assignment,misc]


class SiteError(_Base):
    """A page, an example or a data file is wrong.

    Attributes:
        path: The file, relative to the checkout where it lies inside.
        line: Its line, counted from 1 in the file on disk, or 0 where the whole file is meant.
        what: What is wrong and what would be right.
    """

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        self.path = short(path)
        self.line = line
        self.what = message
        super().__init__(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}")


def short(path: Path | str) -> str:
    """Return a path relative to the working directory where it lies below it, with forward slashes."""
    resolved = Path(path)
    try:
        return resolved.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return resolved.as_posix()
