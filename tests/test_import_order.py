"""What may import what, read from the source; and what `import deepgraph` costs, measured."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from subprocess import CompletedProcess

ROOT = Path(__file__).parents[1]
FOLDERS = {"deepgraph": "deepgraph", "deepgraph.backends": "backends", "deepgraph.passes": "passes"}

# A module imports from its own line and the lines above. "deepgraph" is deepgraph/__init__.py.
ORDER = """
polynomial reading dims dtypes drawn errors
literal config arguments arena
expr
parameter ops provenance
namespace
graph
patterns
algebra
stable
grad
schedule target blocks nest nesting sweeps plan
show
passes
backends
constraints compare debug explain failure feeds roof profile results
compile step
nn optim data check io
training
deepgraph
cli
__main__
"""
RANK = {unit: rank for rank, line in enumerate(ORDER.split("\n")) for unit in line.split()}


def _name(package: str, inside: Path) -> str:
    return ".".join((package, *inside.with_suffix("").parts)).removesuffix(".__init__")


MODULES = {
    _name(package, path.relative_to(ROOT / folder)): ast.parse(path.read_text(encoding="utf-8"))
    for package, folder in FOLDERS.items()
    for path in (ROOT / folder).rglob("*.py")
}


def _unit(module: str) -> str:
    """Where a module, or a name in it, stands in ORDER: ops for deepgraph.ops.reduce."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def _imports(module: ast.Module, *, on_import: bool) -> Iterator[str]:
    """Dotted names that a module imports anywhere, or only those that run when it is imported."""
    nodes: list[ast.AST] = [module]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in MODULES else source
        elif on_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        elif on_import and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes.extend(node.orelse)
        else:
            nodes.extend(ast.iter_child_nodes(node))


def _edges(*, on_import: bool) -> list[tuple[str, str]]:
    return [
        (module, imported)
        for module, tree in MODULES.items()
        for imported in _imports(tree, on_import=on_import)
    ]


def test_every_module_has_its_place() -> None:
    missing = {_unit(module) for module in MODULES} - RANK.keys()
    assert not missing, f"say in ORDER where these belong: {sorted(missing)}"
    assert {"deepgraph", "expr", "ops", "passes", "backends"} <= {_unit(m) for m in MODULES}


def test_module_level_imports_follow_the_order() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, imported in _edges(on_import=True)
        if imported.split(".")[0] == "deepgraph" and RANK[_unit(imported)] > RANK[_unit(module)]
    ]
    assert not wrong


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, imported in _edges(on_import=True):
        if imported in MODULES:
            graph[module].add(imported)
    TopologicalSorter(graph).prepare()  # CycleError lists the modules of a cycle


def test_only_numpy_and_the_standard_library_are_imported_with_a_module() -> None:
    allowed = {"deepgraph", "numpy", *sys.stdlib_module_names}
    wrong = [
        f"{module} imports {imported}"
        for module, imported in _edges(on_import=True)
        if imported.split(".")[0] not in allowed
    ]
    assert not wrong


def test_passes_and_backends_and_show_stay_apart() -> None:
    apart = {"passes": {"backends"}, "backends": {"passes"}, "show": {"backends"}}
    wrong = [
        f"{module} imports {imported}"
        for module, imported in _edges(on_import=False)
        if imported.startswith("deepgraph.") and _unit(imported) in apart.get(_unit(module), ())
    ]
    assert not wrong


IMPORT = """
import os, sys, threading, time
import numpy

def threads():
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.isdir(tasks) else threading.active_count()

before, running, start = set(sys.modules), threads(), time.process_time()
import deepgraph
seconds = time.process_time() - start
new = {name.split(".")[0] for name in set(sys.modules) - before}
foreign = sorted(new - {"deepgraph", "numpy"} - sys.stdlib_module_names)
assert not foreign, f"import deepgraph imports {foreign}"
assert threads() == running, "import deepgraph starts threads"
with open("seconds", "w") as file:
    file.write(str(seconds))
"""


def test_import_is_quick_quiet_and_light(
    python: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    seconds = []
    for _ in range(5):
        done = python("-W", "error", "-c", IMPORT)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        seconds.append(float((tmp_path / "seconds").read_text()))
    assert min(seconds) < 0.25
