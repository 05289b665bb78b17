"""An index that says whether a string occurs in a text, such as the training data of a model.

A search for ten thousand strings in a hundred megabytes would take minutes by reading. So the text is cut into blocks
of eight bytes, and the numbers of the blocks are sorted by their bytes:

    text    |the cat |sat on t|he mat. |The cat |sat on t|he log. |
    block       0        1        2        3        4        5            sorted: 3 5 2 1 4 0

A string of 15 bytes or more has a whole block in it at each of the eight offsets of blocks. For `at sat on the m` at
one offset, the piece "sat on t" must be a block: binary search gives the numbers 1 and 4, and only there the text is
compared. Each offset takes the piece that is rarest in the text, so a frequent "https://" costs nothing. Shorter
strings are compared everywhere.

Memory: the text, half as much for the sorted numbers, and for a while as much again to sort them.
"""

from __future__ import annotations

import codecs
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relens.errors import LimitError, QueryError

BLOCK = 8

#: The longest text, all files together: its blocks have numbers of 32 bits, and it is held in memory.
MOST_BYTES = 1 << 30
MOST_FILES = 100_000

#: Between files: a byte that UTF-8 never has, so that no string occurs across files.
SEPARATOR = 0xFF

#: Places compared together, and bytes checked for UTF-8 together.
CHUNK = 1 << 20


class Corpus:
    """The index of a text. left_out: files of a folder that are not UTF-8 text.

    Building: O(n log n) for n/8 blocks. `contains`: eight binary searches, and a comparison at each of their places.
    """

    def __init__(self, data: npt.NDArray[np.uint8], files: int = 1, left_out: tuple[str, ...] = ()) -> None:
        self.bytes = len(data)
        self.files = files
        self.left_out = left_out
        padding = -len(data) % BLOCK
        self._data = np.concatenate([data, np.full(padding, SEPARATOR, np.uint8)]) if padding else data
        self._blocks = self._data.view(np.uint64)
        self._sorted = np.argsort(self._blocks).astype(np.uint32)

    @classmethod
    def of_text(cls, text: str) -> Corpus:
        """The corpus of a text in memory."""
        return cls(np.frombuffer(text.encode("utf-8", errors="replace"), np.uint8).copy())

    def contains(self, text: str, whole_words: bool = False) -> bool:
        """Whether `text` occurs; with `whole_words` not as a part of a longer word or number.

        "a.com/b" occurs in "a.com/bc", but not as whole words. The empty text and invalid Unicode occur nowhere.
        """
        try:
            wanted = np.frombuffer(text.encode(), np.uint8)
        except UnicodeEncodeError:
            return False
        if not len(wanted):
            return False
        for places in self._places(wanted):
            matches = self._that_match(places, wanted)
            if whole_words:
                matches = matches[self._stands_alone(matches, wanted)]
            if len(matches):
                return True
        return False

    def _places(self, wanted: npt.NDArray[np.uint8]) -> Iterator[npt.NDArray[np.int64]]:
        """Candidate places of the string, `CHUNK` at a time, so that memory is bounded."""
        last = self.bytes - len(wanted)
        if last < 0:
            return
        if len(wanted) < 2 * BLOCK - 1:
            for start in range(0, last + 1, CHUNK):
                here = self._data[start : min(start + CHUNK, last + 1)]
                yield np.flatnonzero(here == wanted[0]) + start
            return
        for phase in range(BLOCK):
            low, high, offset = min(self._occurrences(wanted, phase), key=lambda piece: piece[1] - piece[0])
            for start in range(low, high, CHUNK):
                numbers = self._sorted[start : min(start + CHUNK, high)].astype(np.int64)
                places = numbers * BLOCK - offset
                yield places[(places >= 0) & (places <= last)]

    def _occurrences(self, wanted: npt.NDArray[np.uint8], phase: int) -> Iterator[tuple[int, int, int]]:
        """(low, high, offset) of each piece that is a block where byte `phase` begins one: its range in the order."""
        for offset in range(phase, len(wanted) - BLOCK + 1, BLOCK):
            piece = wanted[offset : offset + BLOCK].copy().view(np.uint64)[0]
            low = bisect_left(self._sorted, piece, key=self._blocks.__getitem__)
            high = bisect_right(self._sorted, piece, low, key=self._blocks.__getitem__)
            yield low, high, offset
            if low == high:  # without this block, no string at this phase
                return

    def _that_match(self, places: npt.NDArray[np.int64], wanted: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        for position, byte in enumerate(wanted):
            if not len(places):
                break
            places = places[self._data[places + position] == byte]
        return places

    def _stands_alone(self, places: npt.NDArray[np.int64], wanted: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Whether no word continues at either end; at a blank end of the string, none can."""
        alone = np.ones(len(places), np.bool_)
        if _WORD[wanted[0]]:
            alone &= ~_WORD[self._data[np.maximum(places - 1, 0)]] | (places == 0)
        if _WORD[wanted[-1]]:
            after = places + len(wanted)
            alone &= ~_WORD[self._data[np.minimum(after, len(self._data) - 1)]] | (after >= self.bytes)
        return alone


def _word_bytes() -> npt.NDArray[np.bool_]:
    """ASCII letters, digits and _, and all bytes of other characters, most of which are letters."""
    word = np.array([bytes([byte]).isalnum() or byte == ord("_") for byte in range(256)])
    word[0x80:SEPARATOR] = True
    return word


_WORD = _word_bytes()


def open_corpus(path: str | Path, most_bytes: int = MOST_BYTES) -> Corpus:
    """The text of a file, or of all files below a folder that are UTF-8.

    Raises `QueryError` for a file that is missing, unreadable or no UTF-8 text, and `LimitError` for more than
    `most_bytes`. Links within a folder are not followed.
    """
    path = Path(path).expanduser()
    try:
        if path.is_dir():
            return _open_folder(path, most_bytes)
        if not path.is_file():
            raise QueryError(f"There is no file or folder called {path}.")
        size = path.stat().st_size
        _check_size(path, size, most_bytes)
        data = _read(path, size)
    except OSError as error:
        raise QueryError(f"{error.filename or path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # a path with a null character
        raise QueryError(f"There is no file or folder called {str(path)!r}.") from error
    if not len(data):
        raise QueryError(f"{path} is empty.")
    if not _is_utf8(data):
        raise QueryError(f"{path} is not UTF-8 text.")
    return Corpus(data)


def recent_corpus(path: str | Path) -> Corpus:
    """`open_corpus` with a cache of one: every method of a study opens the same text. Changed files are read again."""
    return _recent(str(path), _state(Path(path).expanduser()))


@lru_cache(maxsize=1)
def _recent(path: str, state: tuple[tuple[str, int, int], ...]) -> Corpus:
    return open_corpus(path)


def _state(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of the files; () where they cannot be read, for which `open_corpus` raises."""
    try:
        paths = [path, *(sorted(islice(path.rglob("*"), MOST_FILES)) if path.is_dir() else ())]
        stats = [(str(one), one.lstat()) for one in paths]
    except (OSError, ValueError):
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _open_folder(folder: Path, most_bytes: int) -> Corpus:
    paths: list[Path] = []
    size = 0
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            paths.append(path)
            size += path.stat().st_size + 1
            _check_size(folder, size, most_bytes)
            if len(paths) > MOST_FILES:
                raise LimitError(f"{folder} has more than the {MOST_FILES:,} files that are read.", limit="files")
    data = np.empty(size, np.uint8)
    filled, left_out = 0, []
    for path in sorted(paths):
        read = _read(path, min(path.stat().st_size, size - filled - 1))
        if not _is_utf8(read):
            left_out.append(str(path.relative_to(folder)))
            continue
        data[filled : filled + len(read)] = read
        data[filled + len(read)] = SEPARATOR
        filled += len(read) + 1
    if not (data[:filled] != SEPARATOR).any():
        raise QueryError(f"There is no UTF-8 text in the folder {folder}.")
    return Corpus(data[:filled].copy() if left_out else data[:filled], len(paths) - len(left_out), tuple(left_out))


def _check_size(path: Path, size: int, most_bytes: int) -> None:
    if size > most_bytes:
        raise LimitError(f"{path} is larger than the {most_bytes / 1e6:,.0f} MB that are searched.", limit="bytes")


def _read(path: Path, size: int) -> npt.NDArray[np.uint8]:
    """At most `size` bytes of a file, which may have become shorter meanwhile."""
    with path.open("rb") as file:
        return np.fromfile(file, np.uint8, max(size, 0))


def _is_utf8(data: npt.NDArray[np.uint8]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), CHUNK):
            decoder.decode(data[start : start + CHUNK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
