"""Makes an installed LocalStack 4.14.0 run on Python 3.11 and 3.12, as Debian 12 and Ubuntu 24.04 have it: LocalStack's own wheel asks for 3.10,
and is written for 3.13. What is newer in it is type parameters (`class Queue[T](Base):`, `type X = …`), and two names. Does nothing on 3.13.

Usage: backport.py SITE_PACKAGES
"""

import pathlib
import re
import sys

HEAD = re.compile(r"^(?P<indent> *)(?P<kind>class|def) (?P<name>\w+)\[(?P<types>[^\]]+)\](?P<rest>.*)$", re.M)
NAMES = {
    "from warnings import deprecated": "from typing_extensions import deprecated",
    "install_lock: Lock | None": 'install_lock: "Lock | None"',  # Lock was a function
}
ALIAS = re.compile(r"^type (\w+) = ", re.M)


def plain(text: str) -> str:
    """text without type parameters: they become TypeVars of the module."""
    variables: list[str] = []

    def head(found: re.Match) -> str:
        names = [t.split(":")[0].strip() for t in found["types"].split(",")]
        variables.extend(n for n in names if n not in variables)
        rest = found["rest"]
        if found["kind"] == "class":
            generic = f"typing.Generic[{', '.join(names)}]"
            rest = f"({generic}):" if rest == ":" else re.sub(r"\):$", f", {generic}):", rest)
        return f"{found['indent']}{found['kind']} {found['name']}{rest}"

    text = ALIAS.sub(r"\1 = ", HEAD.sub(head, text))
    if not variables:
        return text
    lines = text.splitlines(keepends=True)
    # Before the first import: what stands above is comments, and a docstring.
    first = next(i for i, line in enumerate(lines) if re.match(r"(import|from) (?!__future__)", line))
    made = "".join(f'{v} = typing.TypeVar("{v}")\n' for v in variables)
    return "".join([*lines[:first], "import typing\n", made, *lines[first:]])


def main() -> None:
    if sys.version_info >= (3, 13):
        return
    for file in pathlib.Path(sys.argv[1], "localstack").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        changed = plain(text)
        for newer, older in NAMES.items():
            changed = changed.replace(newer, older)
        if changed != text:
            compile(changed, str(file), "exec")
            file.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
