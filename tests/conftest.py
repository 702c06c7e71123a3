"""What all tests share: one profile for Hypothesis, a copy of the checkout for planted faults, the site built once."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# No timed assertions: on a busy machine a deadline fails for no reason.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the check reads of the checkout, as the working folder; the package is a link to the real one."""
    target = tmp_path / "copy"
    shutil.copytree(root / "docs", target / "docs")
    shutil.copy(root / "mkdocs.yml", target)
    (target / "src").symlink_to(root / "src")
    monkeypatch.chdir(target)
    return target


@pytest.fixture(scope="session")
def built_site(root, tmp_path_factory) -> Path:
    """The site, built once for all workers of a test run."""
    from filelock import FileLock

    from gpumoat.site.build import build_into
    from gpumoat.site.project import Project

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "site"
    with FileLock(str(shared / "site.lock")):
        if not (folder / "index.html").is_file():
            build_into(Project(root), folder)
    return folder
