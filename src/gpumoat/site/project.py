"""Where things stand in a checkout: the root, the pages, the examples, and the settings of mkdocs.yml.

The repository's and the site's addresses are one setting each in ``mkdocs.yml`` (``extra.repository``, ``site_url``),
empty until the owner fills them. Whatever needs an address leaves its link out until then.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from gpumoat.site.errors import SiteError


@dataclass(frozen=True)
class Project:
    """One checkout.

    Attributes:
        root: The folder that holds ``mkdocs.yml``.
    """

    root: Path

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The contents of ``mkdocs.yml``, with its custom tags read as plain text."""
        path = self.root / "mkdocs.yml"
        try:
            settings = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader) or {}
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 0
            raise SiteError(path, line, f"no valid YAML: {error.problem}") from None
        if not isinstance(settings, dict):
            raise SiteError(path, 0, "holds no settings: write lines such as 'site_name: The GPU Moat'")
        return settings

    @property
    def pages(self) -> Path:
        """The folder of the pages of the default language."""
        return self.root / str(self.settings.get("docs_dir", "docs"))

    @property
    def examples(self) -> Path:
        """The folder of the worked examples, with the same stems as the pages."""
        return self.root / "docs" / "examples"

    @property
    def lock(self) -> Path:
        """The file that holds every number as it is shown."""
        return self.root / "docs" / "numbers.lock"

    @property
    def repository(self) -> str:
        """The repository's address, without a slash at its end; empty until the owner sets it."""
        return str((self.settings.get("extra") or {}).get("repository") or "").rstrip("/")

    def example_of(self, page: str) -> Path:
        """Return the path of a page's worked example, whether or not it exists."""
        return self.examples / Path(page).with_suffix(".py")

    def all_pages(self) -> list[str]:
        """Return every page, relative to the folder of pages, with forward slashes, in order."""
        return sorted(path.relative_to(self.pages).as_posix() for path in self.pages.rglob("*.md"))


class _Loader(yaml.SafeLoader):
    """A safe loader that takes ``!ENV`` and ``!!python/name`` as text instead of failing on them."""


def _plain(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


_Loader.add_multi_constructor("!", _plain)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _plain)


def find_project(start: Path | None = None) -> Project:
    """Return the checkout that a folder lies in.

    Raises:
        SiteError: No folder above holds a ``mkdocs.yml``.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "mkdocs.yml").is_file():
            return Project(folder)
    raise SiteError(here, 0, "there is no mkdocs.yml here or in a folder above: run this inside the checkout")
