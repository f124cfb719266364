"""What setup.cfg and the documents promise, against what the folders and a wheel hold."""

from __future__ import annotations

import ast
import configparser
import importlib
import importlib.metadata
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import deepgraph

ROOT = Path(__file__).parents[1]
ALIASED = ("backends", "passes")  # top-level folders that install inside deepgraph
BINARY = {".pyc", ".npz", ".png"}


def _setup() -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


SETUP = _setup()


def _lines(section: str, option: str) -> list[str]:
    return SETUP.get(section, option).split("\n")[1:]


def _folder(package: str) -> Path:
    """Where a package's source lies."""
    parts = package.split(".")
    return ROOT.joinpath(*(parts[1:] if parts[1:2] and parts[1] in ALIASED else parts))


def _text_files() -> Iterator[Path]:
    """The files of the project, and not what an environment or a run has put beside them."""
    for top in sorted(ROOT.iterdir()):
        if top.is_file():
            yield top
        elif top.name in {".ci", "deepgraph", "docs", "tests", "notebooks", "benchmarks", *ALIASED}:
            yield from (p for p in top.rglob("*") if _is_text(p.relative_to(top)) and p.is_file())


def _is_text(path: Path) -> bool:
    return path.suffix not in BINARY and not any(p.startswith(".") for p in path.parts[:-1])


def test_packages_are_the_folders_that_exist() -> None:
    packages = _lines("options", "packages")
    folders = {p.parent for top in ("deepgraph", *ALIASED) for p in (ROOT / top).rglob("*.py")}
    assert folders == {_folder(package) for package in packages}
    assert packages == sorted(packages)
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_package_dir_names_the_folders_of_every_alias() -> None:
    expected = ["deepgraph = deepgraph", *(f"deepgraph.{name} = {name}" for name in ALIASED)]
    assert _lines("options", "package_dir") == expected


@pytest.mark.parametrize("name", ALIASED)
def test_an_alias_resolves_in_a_bare_checkout(name: str) -> None:
    link = ROOT / "deepgraph" / name
    # A ZIP, or a clone without symlinks, has a file with the same text.
    target = str(link.readlink()) if link.is_symlink() else link.read_text()
    assert target == f"../{name}"


@pytest.mark.parametrize("name", ALIASED)
def test_an_alias_refuses_its_bare_name(name: str) -> None:
    command = [sys.executable, "-c", f"import {name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(rf"^ImportError: .*deepgraph\.{name}", done.stderr, re.MULTILINE)


def _package_data() -> set[Path]:
    return {
        path
        for package in SETUP.options("options.package_data")
        for pattern in SETUP.get("options.package_data", package).split(", ")
        for path in _folder(package).glob(pattern)
    }


def test_package_data_is_all_that_is_not_python() -> None:
    files = (p for name in _lines("options", "packages") for p in _folder(name).rglob("*.*"))
    assert _package_data() == {p for p in files if p.is_file() and p.suffix not in {".py", ".pyc"}}
    assert ROOT / "deepgraph" / "py.typed" in _package_data()
    assert ROOT / "deepgraph" / "data" / "digits.npz" in _package_data()


def test_version_can_be_read_without_importing() -> None:
    body = ast.parse((ROOT / "deepgraph" / "__init__.py").read_text(encoding="utf-8")).body
    versions = [
        node.value.value
        for node in body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
        if isinstance(node.value, ast.Constant)
    ]
    assert versions == [deepgraph.__version__]
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", deepgraph.__version__)


def test_base_install_needs_three_packages() -> None:
    names = {re.split(r"[<>=!~\[ ]", line)[0] for line in _lines("options", "install_requires")}
    assert names == {"numpy", "networkx", "tqdm"}


def test_pyproject_holds_the_build_system_and_ruff_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project.keys() == {"build-system", "tool"}
    assert project["tool"].keys() == {"ruff"}


def test_console_command_exists() -> None:
    (line,) = _lines("options.entry_points", "console_scripts")
    name, module, function = re.split(r" = |:", line)
    assert name == "deepgraph"
    assert callable(getattr(importlib.import_module(module), function))


def _documents() -> str:
    names = ("README.md", "CONTRIBUTING.md")
    return "".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def test_readme_has_the_two_commands_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    train, tests = re.findall(r"^python3 -m venv .*$", readme, re.MULTILINE)
    for command, package, module in ((train, ".", "deepgraph"), (tests, ".[test]", "pytest")):
        venv, install, run = (shlex.split(part) for part in command.split(" && "))
        assert venv == ["python3", "-m", "venv", ".venv"]
        assert install == [".venv/bin/pip", "install", "-e", package]
        assert run[:3] == [".venv/bin/python", "-m", module]


def test_documented_command_lines_exist(
    python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    commands = set(re.findall(r"-m deepgraph ([a-z]+)", _documents()))
    assert "train" in commands
    for command in sorted(commands):
        done = python("-m", "deepgraph", command, "--help")
        assert done.returncode == 0, done.stderr


def test_documented_extras_exist() -> None:
    groups = re.findall(r"\.\[([a-z0-9,]+)\]", _documents())
    named = {extra for group in groups for extra in group.split(",")}
    assert "test" in named
    assert named <= set(SETUP.options("options.extras_require"))


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    homes = {"home", "root", "Users"}  # in two pieces, or this file would hold what it looks for
    own = {re.escape(str(path)) + r"\b" for path in (ROOT, Path.home()) if len(path.parts) > 2}
    machine = re.compile("|".join([rf"(?<![\w.~$}}])/(?:{'|'.join(homes)})/", *own]))
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in _text_files()
        if (match := machine.search(path.read_text(encoding="utf-8")))
    ]
    assert not found


@pytest.mark.parametrize("folder", ["notebooks", "tests/golden"])
def test_recorded_output_holds_no_absolute_path(folder: str) -> None:
    absolute = re.compile(r"(?<![\w.~$}])/(?:tmp|usr|var|opt|mnt|private)/\w")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in _text_files()
        if path.is_relative_to(ROOT / folder)
        if (match := absolute.search(path.read_text(encoding="utf-8")))
    ]
    assert not found


def test_wheel_holds_each_module_once(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--wheel"):
        pytest.skip("looks into an installed wheel: pytest --wheel")
    distribution = importlib.metadata.distribution("deepgraph-compiler")
    assert distribution.version == deepgraph.__version__
    installed = [
        file.as_posix()
        for file in distribution.files or ()
        if file.suffix != ".pyc" and ".." not in file.parts and ".dist-info" not in file.parts[0]
    ]
    shipped = _package_data()
    expected = {
        f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}"
        for package in _lines("options", "packages")
        for folder in [_folder(package)]
        for path in folder.rglob("*")
        if path in shipped or (path.suffix == ".py" and path.parent == folder)
    }
    assert sorted(installed) == sorted(expected)
