"""The repository itself: what a newcomer's clone and a workflow rely on, checked without network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def git(*arguments: str) -> list[str]:
    """Lines that git prints for this checkout; the test is skipped where there is no git or no checkout."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout")
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


# Requirements


def addresses(text: str) -> list[str]:
    """Lines of a lock file that name an address or an option that leads to one."""
    found = re.compile(r"://|^\s*-(-index-url|-extra-index-url|-find-links|i|f)\b|\"resolved\"|@ (file|git)")
    return [line for line in text.splitlines() if found.search(line)]


def pins(text: str) -> list[tuple[str, str]]:
    """Package and version (with its marker) of each requirement that is pinned and has a hash."""
    return re.findall(r"^([A-Za-z0-9_.-]+)(==[^\\\n]+)\\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)


LOCKS = [ROOT / "requirements/site.txt", ROOT / "requirements/test.txt"]


@pytest.mark.parametrize("lock", [*LOCKS, ROOT / "tests/micropython/package-lock.json"], ids=lambda p: p.name)
def test_lock_files_name_no_address(lock: Path) -> None:
    assert addresses(lock.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    ["--index-url https://pypi.example/simple", "--find-links wheels", "-i mirror", '"resolved": "x",', "a @ file:b"],
)
def test_an_address_in_a_lock_file_is_found(line: str) -> None:
    assert addresses(f"numpy==2.3.0\n{line}\n") == [line]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.name)
def test_each_requirement_is_pinned_with_a_hash(lock: Path) -> None:
    text = lock.read_text("utf-8")
    names = re.findall(r"^([A-Za-z0-9][^=\s]*)", text, re.MULTILINE)
    assert [name for name, _ in pins(text)] == names
    assert "flit-core" in names, "the build backend is installed from the lock"


def test_a_requirement_without_a_hash_is_not_counted_as_pinned() -> None:
    assert pins("a==1\nb>=2 \\\n    --hash=sha256:" + "0" * 64 + "\n") == []


def test_test_requirements_contain_those_of_the_site() -> None:
    site, test = (pins(lock.read_text("utf-8")) for lock in LOCKS)
    assert set(site) <= set(test)


def test_package_lock_has_hashes() -> None:
    lock = json.loads((ROOT / "tests/micropython/package-lock.json").read_text("utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())


# Files


def foreign_paths(text: str) -> list[str]:
    """Paths that exist on one developer's machine only."""
    found = re.compile(r"(?<![\w.~/$})-])/(?:home|Users|root|work|tmp)/[\w.-]+|[A-Z]:\\{1,2}Users\\", re.ASCII)
    return [match[0] for match in found.finditer(text)]


def test_no_path_of_a_developers_machine() -> None:
    found = []
    for name in git("ls-files", "--cached", "--others", "--exclude-standard"):
        path = ROOT / name
        if path == Path(__file__) or not path.is_file():
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # pictures and the like
        found += [f"{name}: {where}" for where in foreign_paths(text)]
    assert found == []


@pytest.mark.parametrize("path", ["/home/ada/moat", "see /work/moat", "'/tmp/x'", "file:/Users/ada", r"C:\Users\ada"])
def test_a_path_of_a_developers_machine_is_found(path: str) -> None:
    assert foreign_paths(path)


@pytest.mark.parametrize(
    "text", ["https://example.org/home/x", "docs/work/x", "~/tmp/x", "/path/to/python3", "$d/tmp/x"]
)
def test_other_paths_are_innocent(text: str) -> None:
    assert foreign_paths(text) == []


def test_gitignore_hides_no_source() -> None:
    ignored = git("ls-files", "--others", "--ignored", "--exclude-standard", "src", "docs", "tests", "requirements")
    made = re.compile(r"(^|/)(__pycache__|node_modules|\.[a-z]+_cache)/|\.DS_Store$")
    assert [name for name in ignored if not made.search(name)] == []


# Makefile


def phony(makefile: str) -> set[str]:
    """Targets that are names, not files; FORCE is for make alone."""
    return set(" ".join(re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)).split()) - {"FORCE"}


def explained(makefile: str) -> set[str]:
    """Targets that `make help` explains, by the comment beside them."""
    return set(re.findall(r"^([a-z][a-z-]*):.*## \S", makefile, re.MULTILINE))


def test_help_explains_every_target() -> None:
    assert explained(MAKEFILE) == phony(MAKEFILE)


def test_a_target_without_an_explanation_is_found() -> None:
    makefile = ".PHONY: a b FORCE\na: ## explained\nb:\n\ttrue\n"
    assert phony(makefile) - explained(makefile) == {"b"}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_alone_prints_the_help() -> None:
    printed = subprocess.run(["make"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {line.split()[1] for line in printed.splitlines()[1:] if line.startswith("  make ")} == phony(MAKEFILE)


def test_python_versions_agree() -> None:
    """pyproject, Makefile and workflow name the same versions."""
    low, high = re.findall(r"3\.(\d+)", PROJECT["requires-python"])
    assert f"(3, {low}) <= sys.version_info[:2] <= (3, {int(high) - 1})" in MAKEFILE
    matrix = workflow(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert matrix == [f"3.{minor}" for minor in range(int(low), int(high))]


# Documents


def make_commands(markdown: str) -> set[str]:
    """Targets of `make` that a document tells the reader to type: in code spans and indented code."""
    code = re.findall(r"`([^`\n]+)`|^    (.+)$", markdown, re.MULTILINE)
    return {found for pair in code for found in re.findall(r"(?:^|\s)make ([a-z][a-z-]*)", " ".join(pair))}


def missing_files(markdown: str, root: Path) -> set[str]:
    """Files and folders that a document links to or names in code, and that are not there.

    What a command says it wrote, in an example of its output, is there for whoever runs it.
    """
    markdown = re.sub(r"(?m)^    wrote \S+$", "", markdown)
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", markdown)
    named = re.findall(r"(?<![\w/.-])((?:docs|src|tests|requirements)/[\w./-]*\w/?)", markdown)
    return {name for name in (*linked, *named) if not (root / name).exists()}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_what_exists(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert make_commands(text)
    assert make_commands(text) <= phony(MAKEFILE)
    assert missing_files(text, ROOT) == set()


def test_a_document_that_names_what_is_not_there_is_found(tmp_path: Path) -> None:
    text = "`make sight` now\n\n    make build\n\n[x](NO.md) and `docs/no.py`; make up your mind"
    assert make_commands(text) - phony(MAKEFILE) == {"sight"}
    assert missing_files(text, tmp_path) == {"NO.md", "docs/no.py"}


def test_readme_has_the_two_commands_and_the_example() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert {"site", "test"} <= make_commands(text)
    assert ".venv/bin/python docs/examples/memory/gpt3.py" in text


def test_licences_and_citation() -> None:
    code, content = (ROOT / name for name in ("LICENSE", "LICENSE-CONTENT"))
    assert code.read_text("utf-8").startswith("MIT License\n\nCopyright (c) 2026 The GPU Moat contributors\n")
    assert "SPDX-License-Identifier: CC-BY-4.0\n" in content.read_text("utf-8")
    assert PROJECT["license"] == "MIT"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "The GPU Moat contributors"}] == PROJECT["authors"]
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == ["MIT", "CC-BY-4.0"]
    assert {"message", "title"} <= set(citation)


# Workflows


def workflow(path: Path) -> dict[Any, Any]:
    """A workflow file, read."""
    loaded = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def unpinned(text: str) -> list[str]:
    """Actions that are not named by a full commit hash with its version in a comment."""
    pinned = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    return [use for use in re.findall(r"^\s*-?\s*uses:\s*(.*?)\s*$", text, re.MULTILINE) if not pinned.match(use)]


def writers(loaded: dict[Any, Any]) -> set[str]:
    """Where a workflow may write: "top" or the name of a job. Missing permissions at the top count as writing."""

    def writes(permissions: Any) -> bool:
        if isinstance(permissions, dict):
            return any(value == "write" for value in permissions.values())
        return permissions not in ("read-all", None)

    top = {"top"} if loaded.get("permissions") is None or writes(loaded["permissions"]) else set()
    return top | {name for name, job in loaded["jobs"].items() if writes(job.get("permissions"))}


def test_there_are_two_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["publish", "test"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_workflows_are_pinned_and_may_only_read(path: Path) -> None:
    text, loaded = path.read_text("utf-8"), workflow(path)
    assert "uses:" in text
    assert unpinned(text) == []
    assert writers(loaded) == ({"deploy"} if path.stem == "publish" else set())
    assert "pull_request_target" not in text
    for name, job in loaded["jobs"].items():
        assert job["timeout-minutes"] <= 30, name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_the_deploy_job_has_no_more_than_it_needs() -> None:
    job = workflow(ROOT / ".github/workflows/publish.yml")["jobs"]["deploy"]
    assert job["permissions"] == {"pages": "write", "id-token": "write"}
    assert job["needs"] == "build"
    assert not any("run" in step for step in job["steps"]), "nothing of ours runs with these permissions"


@pytest.mark.parametrize(
    "use",
    [
        "actions/checkout@v7",
        "actions/checkout@main # v7.0.1",
        "actions/checkout@3d3c42e # v7.0.1",
        "actions/checkout@" + "0" * 40,
        "./.github/actions/x",
    ],
)
def test_an_action_that_is_not_pinned_is_found(use: str) -> None:
    assert unpinned(f"    steps:\n      - uses: {use}\n") == [use]


@pytest.mark.parametrize(
    ("top", "job", "found"),
    [
        ({"contents": "read"}, None, set()),
        ({"contents": "read"}, {"pages": "write"}, {"a"}),
        ({"contents": "write"}, None, {"top"}),
        ("write-all", None, {"top"}),
        (None, None, {"top"}),
        ("read-all", "write-all", {"a"}),
    ],
)
def test_a_workflow_that_may_write_is_found(top: Any, job: Any, found: set[str]) -> None:
    assert writers({"permissions": top, "jobs": {"a": {"permissions": job}}}) == found


def test_workflows_pass_their_linter() -> None:
    tool = Path(sys.executable).parent / "zizmor"
    done = subprocess.run(
        [tool, "--offline", "--quiet", "--no-progress", ".github"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_finds_a_planted_fault(tmp_path: Path) -> None:
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    text = (
        "on: pull_request_target\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo ${{ github.head_ref }}\n"
    )
    (folder / "bad.yml").write_text(text, "utf-8")
    tool = Path(sys.executable).parent / "zizmor"
    command = [str(tool), "--offline", "--quiet", "--no-progress", str(tmp_path / ".github")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "dangerous-triggers" in done.stdout
    assert done.returncode != 0


# What runs before a commit and on a bare machine


def test_commit_hooks_are_local_and_there() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        program = hook["entry"].split()[0]
        assert hook["language"] == "system"
        assert program.startswith(".venv/bin/")
        assert (Path(sys.executable).parent / Path(program).name).exists(), program


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_bare_machine_script_is_strict_and_parses() -> None:
    script = ROOT / ".ci/run"
    subprocess.run(["bash", "-n", script], check=True)
    text = script.read_text("utf-8")
    assert "\nset -euo pipefail\n" in text
    assert text.rstrip().endswith("REQUIRE_BROWSER=1 make test")
