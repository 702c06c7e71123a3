"""The command ``gpumoat``: checks and builds the site, and answers questions with the models.

Commands that answer questions, and the one that begins a chapter, stand in ``gpumoat.commands``, one module a subject,
and are added here.

Bad input gets one clear line and a non-zero exit, never a traceback. Long work shows how far it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import track

from gpumoat.commands import chapter, cloud, gpus, lithography, memory, partition, trace
from gpumoat.facts import DataError

if TYPE_CHECKING:  # a command that builds nothing does not wait for what builds
    from gpumoat.site.lock import Change

SHOWN = 20  # lines of the lock that differ, before the rest is only counted

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for subject in (gpus, lithography, partition, trace, memory, cloud, chapter):
    subject.register(app)
out, err = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)


def _progress(items: Iterable[str], what: str) -> Iterable[str]:
    return track(list(items), what, console=err, transient=True, disable=not err.is_terminal)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _first(changes: list[Change], where: str = "") -> list[str]:
    """Return a line for each of the first changes, what is gone last, and for the rest their count."""
    ordered = sorted(changes, key=lambda change: not change.after)
    more = [f"and {len(ordered) - SHOWN} more{where}"] if len(ordered) > SHOWN else []
    return [str(change) for change in ordered[:SHOWN]] + more


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        err.print(line, markup=False, highlight=False)


@app.callback()
def _main() -> None:
    """The GPU Moat: numbers on AI compute that can be opened, traced and rerun."""


@app.command()
def check(
    page: Annotated[str, typer.Argument(help="One page, such as memory/gpt3; all where it is left out.")] = "",
) -> None:
    """Say in seconds what continuous integration would say of the pages and the data."""
    from gpumoat.site.check import check_project
    from gpumoat.site.project import find_project

    report = check_project(find_project(), page, _progress)
    _say(report.problems)
    if report.lock:
        _say(f"docs/numbers.lock: {line}" for line in _first(report.lock))
        _say(["docs/numbers.lock: if these are meant, run `make lock` and commit the file"])
    if not report.good:
        raise typer.Exit(1)
    numbers = sum(len(each.numbers) for each in report.pages)
    out.print(f"{_count(len(report.pages), 'page')} and {_count(numbers, 'number')}: nothing to mend")


@app.command()
def lock() -> None:
    """Write docs/numbers.lock: every number as it is shown, with what it rests on."""
    from gpumoat.site.check import check_project
    from gpumoat.site.lock import lock_text
    from gpumoat.site.project import find_project

    project = find_project()
    report = check_project(project, progress=_progress)
    if report.problems:
        _say(report.problems)
        raise typer.Exit(1)
    project.lock.write_text(lock_text(report.pages), encoding="utf-8")
    _say(_first(report.lock, "; `git diff docs/numbers.lock` shows them"))
    out.print(f"docs/numbers.lock: {_count(len(report.lock), 'line')} changed")


@app.command()
def build() -> None:
    """Build the site into site/; a failed build leaves the last good site as it was."""
    from gpumoat.site.build import BuildFailed
    from gpumoat.site.build import build as build_site
    from gpumoat.site.project import find_project

    project = find_project()
    try:
        with err.status("Building"):
            report = build_site(project)
    except BuildFailed as failed:
        _say(failed.problems)
        raise typer.Exit(1) from None
    if report.lock:
        _say([f"docs/numbers.lock is behind by {_count(len(report.lock), 'line')}: `make lock` writes it"])
    numbers = sum(len(page.numbers) for page in report.pages)
    out.print(f"site/: {_count(len(report.pages), 'page')} and {_count(numbers, 'number')}")


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="The first port to try; 0 takes any.", min=0, max=65535)] = 8000,
) -> None:
    """Serve the built site on this machine."""
    from gpumoat.site.project import find_project
    from gpumoat.site.serve import make_server

    server = make_server(find_project().root / "site", port)
    out.print(f"http://127.0.0.1:{server.server_address[1]}/  (Ctrl+C stops)", highlight=False)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def main() -> None:
    """Run the command; what the input, the site or the data have to say is one line, not a traceback."""
    try:
        status = app(standalone_mode=False)
    except typer.Abort:
        raise SystemExit(1) from None
    except Exception as error:
        from gpumoat.site.errors import SiteError

        if isinstance(error, (DataError, SiteError)):
            text = str(error)
        elif hasattr(error, "format_message"):  # what the command line's own parser refuses
            text = error.format_message().rstrip(".")
        else:
            raise
        if text:  # without a command the parser prints the help, and has nothing to add
            _say([f"error: {text}"])
        raise SystemExit(2) from None
    raise SystemExit(status or 0)
