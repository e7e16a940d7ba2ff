"""Files that results are written into."""

from __future__ import annotations

import os
from collections.abc import Mapping


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    """Writes texts by their file names; each file is there whole or as it was."""
    os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        path = os.path.join(folder, name)
        with open(path + ".part", "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(path + ".part", path)
