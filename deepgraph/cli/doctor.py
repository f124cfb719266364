"""Say what this machine has, which backend `auto` takes, and whether the backends compute right."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
from typing import Any

import numpy as np
import numpy.typing as npt

import deepgraph as dg
from deepgraph import backends, nn, optim
from deepgraph.backends import cache as disk
from deepgraph.backends import toolchain
from deepgraph.cli import blas, cache
from deepgraph.config import processors, threads
from deepgraph.errors import GraphError

TOLERANCE = 1e-4  # of float32 results, relative to the reference
VARIABLES = ("DEEPGRAPH_", "DATASET_HOME", "OPENBLAS_", "OMP_NUM_THREADS")  # or how they begin


def arguments(parser: argparse.ArgumentParser) -> None:
    """`doctor` has no flags."""


def run(given: argparse.Namespace) -> int:
    """Print the report; 1 if no backend answers, or one computes something wrong."""
    lines = [
        ("deepgraph", dg.__version__),
        ("python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        ("numpy", f"{np.__version__}, {_blas()}"),
        *((name, _version(name)) for name in ("networkx", "tqdm", "cupy", "ml_dtypes")),
        ("compiler", toolchain.missing() or str(toolchain.compiler())),
        ("blas of steps", _blas_of_steps()),
        ("cache", f"{(found := disk.info()).folder}: {cache.described(found)}"),
        ("threads", f"{threads()} of {processors()} processors"),
        *((name, os.environ[name]) for name in sorted(os.environ) if name.startswith(VARIABLES)),
    ]
    well = True
    for name in backends.NAMES:
        said, answers = _backend(name)
        lines.append((f"backend {name}", said))
        well = well and answers
    try:
        wish = os.environ.get("DEEPGRAPH_BACKEND", "auto")
        chosen, why = backends.resolve(wish)
        lines.append(("auto", f"{chosen.name}: {why}" if wish == "auto" else
                      f"{chosen.name}: DEEPGRAPH_BACKEND says so"))  # fmt: skip
    except GraphError as error:
        lines.append(("auto", str(error)))
        well = False
    wide = max(len(name) for name, _ in lines)
    for name, text in lines:
        print(f"{name:<{wide}}  {text}")
    print("all is well" if well else "something is wrong")
    return 0 if well else 1


def _backend(name: str) -> tuple[str, bool]:
    """What there is to say of a backend, and whether that is well."""
    if reason := backends.named(name).missing():
        return f"cannot run here: {reason}", True
    if name == "reference":
        return "answers; it defines what the others compute, and runs when asked for by name", True
    try:
        error = difference(name)
    except Exception as fault:  # whatever a broken installation may raise
        return f"self-check failed: {type(fault).__name__}: {fault}", False
    verdict = "answers; self-check passed" if error <= TOLERANCE else "self-check failed"
    return f"{verdict}: within {error:.0e} of the reference", error <= TOLERANCE


def difference(name: str) -> float:
    """By how much two training steps of a small convnet differ from the reference, relatively."""
    found, right = _trained(name), _trained("reference")
    return max(
        float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30))
        for a, b in zip(found, right, strict=True)
    )


def _trained(name: str) -> list[npt.NDArray[Any]]:
    """The losses of two steps, and the weights after them."""
    x, t = dg.placeholder("x", ("n", 1, 8, 8)), dg.placeholder("t", ("n",), "int64")
    model = nn.Sequential(nn.Conv2D(4, 3), nn.relu, nn.MaxPool2D(2), nn.Flatten(), nn.Dense(10))
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    updates = optim.SGD(0.1, momentum=0.9).updates(loss, model.parameters)
    step = dg.compile(loss, updates, backend=name)
    rng = np.random.default_rng(0)
    images, labels = rng.standard_normal((6, 1, 8, 8), np.float32), rng.integers(0, 10, 6)
    losses = [step(x=images, t=labels) for _ in range(2)]
    return [step.device.host(loss) for loss in losses] + [p.value for p in model.parameters]


def _version(package: str) -> str:
    """Under which name, if not its own, and in which version a package is installed."""
    names = importlib.metadata.packages_distributions().get(package, [])
    found = [f"{n} {importlib.metadata.version(n)}" for n in dict.fromkeys(names)]
    return ", ".join(found).removeprefix(f"{package} ") or "not installed"


def _blas_of_steps() -> str:
    """The library that multiplies large matrices inside compiled steps."""
    found = toolchain.blas()
    return f"{found.name.strip()}, {found.path}" if found else "their own: no scipy-openblas64"


def _blas() -> str:
    """The library that multiplies matrices for NumPy, and how many threads it takes."""
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    threads = blas.threads()
    counted = "" if threads is None else f", threads: {threads}"
    return f"{built['name']} {built['version']}{counted}"
