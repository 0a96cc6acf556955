"""From bytes to lines, for every text file msopprof or its users leave behind."""

from __future__ import annotations

from dataclasses import dataclass

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text and how it was found to be encoded; ``damaged`` when bytes had to be replaced."""

    text: str
    encoding: str
    bom: bool = False
    damaged: bool = False


def decode(data: bytes) -> Decoded:
    """Decode UTF-8 (with or without BOM), UTF-16 with BOM or GB18030; never fails.

    GB18030 is what paths and kernel names are in on Chinese systems that do not use UTF-8.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding, bom=True)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    return _decode_as(data, "gb18030", bom=False)


def _decode_as(data: bytes, encoding: str, *, bom: bool) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        fallback = encoding if bom else "utf-8"
        return Decoded(data.decode(fallback, errors="replace"), fallback, bom, damaged=True)


def ends_open(text: str) -> bool:
    """Whether the last line has no end: a file that was cut off, or one that somebody edited."""
    return bool(text) and not text.endswith(("\n", "\r"))


def split_lines(text: str) -> list[str]:
    r"""Lines ended by ``\n``, ``\r\n`` or ``\r`` alone; a final line end opens no new line.

    ``str.splitlines`` would also split at form feeds and Unicode separators, which may stand in names.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    return lines
