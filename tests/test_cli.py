"""The command as a contributor meets it: clear lines, exit codes, and never a traceback.

Policy: the messages are tested in the process, with typer's runner, because a start of Python for each costs a
second; that the installed command behaves the same is seen once for each kind of end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpumoat import cli
from gpumoat.cli import app
from gpumoat.site import check
from gpumoat.site.page import Page

COMMAND = Path(sys.executable).with_name("gpumoat")


@pytest.fixture
def few(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The copy where two pages are rendered, and their lock: what is tested does not need the others."""
    names = ("index.md", "memory/gpt3.md")
    whole = check.render
    monkeypatch.setattr(
        check, "render", lambda project, path: whole(project, path) if path in names else (Page(project, path), "")
    )
    lock = copy / "docs/numbers.lock"
    lines = lock.read_text("utf-8").splitlines(keepends=True)
    lock.write_text("".join(line for line in lines if line.startswith(("#", *names))), "utf-8")
    return copy


def installed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    environment.pop("FORCE_COLOR", None)
    return subprocess.run(
        [COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


class Ended:
    """How a command ended in this process: what it wrote, and with which code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def moat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The command, run in this process."""

    def run(*arguments: str) -> Ended:
        from rich.console import Console

        monkeypatch.setattr(cli, "out", Console(soft_wrap=True, color_system=None))
        monkeypatch.setattr(cli, "err", Console(stderr=True, soft_wrap=True, color_system=None))
        monkeypatch.setattr(sys, "argv", ["gpumoat", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        written = capsys.readouterr()
        return Ended(int(end.value.code or 0), written.out, written.err)

    return run


def append(path: Path, text: str) -> int:
    """Put a paragraph at the end of a file and return its line."""
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n{text}\n", encoding="utf-8")
    return len(before.splitlines()) + 2


def test_the_check_of_one_page(copy: Path, moat) -> None:
    end = moat("check", "memory/gpt3")
    assert (end.code, end.err) == (0, "")
    assert end.out.startswith("1 page and ")
    assert end.out.rstrip().endswith("nothing to mend")


def test_an_unknown_page_names_near_ones(copy: Path, moat) -> None:
    end = moat("check", "memory/gpt4")
    assert end.code == 2
    assert end.err == "error: docs/en: no page 'memory/gpt4.md': did you mean memory/gpt3.md?\n"
    assert end.out == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [("{{ lost_bytes }}", "the example has no 'lost_bytes'"), ("It takes 17 GiB.", "17 GiB: typed number")],
)
def test_a_planted_fault_is_file_line_message(copy: Path, moat, text: str, says: str) -> None:
    line = append(copy / "docs/en/memory/gpt3.md", text)
    end = moat("check", "memory/gpt3")
    assert end.code == 1
    (found,) = [one for one in end.err.splitlines() if one.startswith(f"docs/en/memory/gpt3.md:{line}:")]
    assert says in found
    assert "nothing to mend" not in end.out


def test_brackets_in_a_message_are_no_markup(copy: Path, moat) -> None:
    append(copy / "docs/en/memory/gpt3.md", '{{ cards[99]["lost"] }}')
    end = moat("check", "memory/gpt3")
    assert end.code == 1
    assert '{{ cards[99]["lost"] }}' in end.err


def test_a_difference_from_the_lock_names_the_command_that_mends_it(copy: Path, moat) -> None:
    lock = copy / "docs/numbers.lock"
    lock.write_text(lock.read_text("utf-8").replace("| 96 |", "| 95 |"), "utf-8")
    end = moat("check", "memory/gpt3")
    assert end.code == 1
    assert "docs/numbers.lock: memory/gpt3.md | layers: was 95 " in end.err
    assert end.err.rstrip().endswith("if these are meant, run `make lock` and commit the file")


def test_many_differences_are_counted(copy: Path, moat) -> None:
    (copy / "docs/numbers.lock").unlink()
    end = moat("check", "memory/gpt3")
    assert end.code == 1
    lines = end.err.splitlines()
    assert len(lines) == cli.SHOWN + 2
    assert lines[-2].startswith("docs/numbers.lock: and ")
    assert lines[-2].endswith(" more")


def test_what_is_new_is_told_before_what_is_gone(few: Path, moat) -> None:
    """A page that was written anew loses hundreds of numbers, and its author wants to see the others."""
    lock = few / "docs/numbers.lock"
    gone = "".join(f"memory/gpt3.md | a_{number:03d} | 1 | cited | gpt3.layers\n" for number in range(2 * cli.SHOWN))
    lock.write_text(lock.read_text("utf-8").replace("| 96 |", "| 95 |") + gone, "utf-8")
    lines = moat("check", "memory/gpt3").err.splitlines()
    assert "memory/gpt3.md | layers: was 95" in lines[0]
    assert "a_000: gone, was 1" in lines[1]
    assert "gpt3.layers" not in lines[1]
    told = moat("lock").err.splitlines()
    assert len(told) == cli.SHOWN + 1
    assert told[-1].endswith(" more; `git diff docs/numbers.lock` shows them")


def test_the_lock_is_not_written_while_there_are_problems(few: Path, moat) -> None:
    lock = few / "docs/numbers.lock"
    lock.write_text("# old\n")
    line = append(few / "docs/en/memory/gpt3.md", "It takes 17 GiB.")
    end = moat("lock")
    assert end.code == 1
    assert f"docs/en/memory/gpt3.md:{line}:" in end.err
    assert lock.read_text() == "# old\n"


def test_the_lock_is_written_and_the_changes_are_told(few: Path, moat) -> None:
    lock = few / "docs/numbers.lock"
    before = lock.read_text("utf-8")
    lock.write_text(before.replace("memory/gpt3.md | layers | 96 |", "memory/gpt3.md | layers | 95 |"), "utf-8")
    end = moat("lock")
    assert end.code == 0
    assert "memory/gpt3.md | layers: was 95 " in end.err
    assert end.out == "docs/numbers.lock: 1 line changed\n"
    assert lock.read_text("utf-8") == before


def test_serve_without_a_site_says_what_to_do(copy: Path, moat) -> None:
    end = moat("serve")
    assert end.code == 2
    assert end.err == "error: site: there is no site here yet: run `make build` first\n"


@pytest.mark.parametrize("port", ["70000", "-1", "eight"])
def test_a_port_that_is_none_is_refused(copy: Path, moat, port: str) -> None:
    end = moat("serve", "--port", port)
    assert end.code == 2
    assert "--port" in end.err


@pytest.mark.parametrize("arguments", [["check"], ["lock"], ["build"], ["serve"], ["check", "memory/gpt3"]])
def test_outside_a_checkout_it_is_one_line(
    tmp_path: Path, moat, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    end = moat(*arguments)
    assert end.code == 2
    assert end.err.count("\n") == 1
    assert "there is no mkdocs.yml here or in a folder above: run this inside the checkout" in end.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], ["check", "lock", "build", "serve"]),
        (["check"], ["PAGE", "memory/gpt3", "continuous integration"]),
        (["lock"], ["docs/numbers.lock"]),
        (["build"], ["last good site"]),
        (["serve"], ["--port", "this machine"]),
    ],
)
def test_every_command_explains_itself(arguments: list[str], says: list[str]) -> None:
    shown = CliRunner().invoke(app, [*arguments, "--help"], env={"NO_COLOR": "1", "COLUMNS": "100"})
    assert shown.exit_code == 0
    for word in says:
        assert word.lower() in shown.output.lower(), shown.output


def test_without_a_command_the_help_is_shown() -> None:
    shown = CliRunner().invoke(app, [], env={"NO_COLOR": "1"})
    assert "Usage" in shown.output
    assert "serve" in shown.output


def test_an_unknown_command_is_refused(moat) -> None:
    end = moat("bild")
    assert end.code == 2
    assert "bild" in end.err


def test_broken_data_is_a_line(copy: Path, moat, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the data door refuses is told like everything else."""
    from gpumoat.facts import DataError

    def refuse(*_: object, **__: object) -> None:
        raise DataError("facts/gpt3.toml: fact gpt3.layers: value: no number")

    monkeypatch.setattr("gpumoat.site.check.check_registry", refuse)
    end = moat("check")
    assert (end.code, end.err) == (2, "error: facts/gpt3.toml: fact gpt3.layers: value: no number\n")


def test_the_installed_command_ends_alike(tmp_path: Path) -> None:
    done = installed(tmp_path, "check")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
