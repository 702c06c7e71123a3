"""``gpumoat new-chapter``: the files with which a chapter begins."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    """Add the commands of this subject."""
    app.command("new-chapter")(new_chapter)


def new_chapter(
    path: Annotated[str, typer.Argument(help="Part of the book and name of the page, such as compute/occupancy.")],
    title: Annotated[str, typer.Option(help="The question that the chapter answers.")],
) -> None:
    """Begin a chapter: prose, worked example, tests and navigation entry that build at once and say what to replace."""
    from gpumoat.site.project import find_project
    from gpumoat.site.scaffold import new_chapter as begin

    begun = begin(find_project(), path, title)
    out = Console(soft_wrap=True)
    for line in begun.report():
        out.print(line, markup=False, highlight=False)
