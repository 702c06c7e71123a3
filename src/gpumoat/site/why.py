"""Why a block of a page was not understood, in words that say what to mend.

A block whose options cannot be read is left on the page as text, and the extension that reads blocks does not say why.
So the page's own lines are looked at again: most often a text among the options holds a colon with a space behind it,
which YAML takes for another option, or the name of the block or of an option is misspelt. Left out: what an option's
value must be; the block itself says that.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import takewhile

import yaml

TOLD = "in CONTRIBUTING.md, under A chapter"


def why_not(text: str, header: str, blocks: Mapping[str, Iterable[str]]) -> tuple[str, str]:
    """Return the text at which a block is wrong, and what is wrong with it.

    Args:
        text: The page.
        header: The first line of the block.
        blocks: The names of the blocks that there are, each with its options.
    """
    said = f"the block {header!r} is not understood: "
    words = header.strip("/ ").split()
    name = words[0] if words else ""
    if name not in blocks:
        near = get_close_matches(name, list(blocks), 1) or get_close_matches(name + "s", list(blocks), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(blocks)}, {TOLD}"
        return header, f"{said}there is no block {name!r}; {hint}"
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip() == header), len(lines)) + 1
    options = list(takewhile(lambda line: line[:4].isspace() and line.strip(), lines[first:]))
    try:
        given = yaml.safe_load("\n".join(options)) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        wrong = options[min(mark.line, len(options) - 1)].strip() if mark else options[0].strip()
        return wrong, (
            f"{said}the option {wrong.split(':')[0]!r} cannot be read as YAML; "
            "put the text behind its colon in quotes if it holds a colon or a hash itself"
        )
    if not isinstance(given, dict):
        return header, f"{said}its options must be lines such as 'title: Text', four spaces in"
    allowed = set(blocks[name])
    for option in given:
        if str(option) not in allowed:
            hint = f"it has {', '.join(sorted(allowed))}" if allowed else "it has none"
            line = next((line.strip() for line in options if line.strip().startswith(str(option))), header)
            return line, f"{said}it has no option {str(option)!r}; {hint}"
    return header, f"{said}see its options {TOLD}"
