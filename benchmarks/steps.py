"""Training steps of whole nets: forward, backward and update by SGD with momentum."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import peers
from benchmarks.measure import OWN, Row, compared
from benchmarks.nets import NETS, TINY, Net, Step, declared, products, traffic
from benchmarks.roofline import flops_per_second, seconds_to_move

GROUPS = ("mlp", "lenet", "conv")
THREADED = True


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each net of a group and each peer."""
    for net in TINY if quick else NETS:
        if net.name.split()[0] == group:
            work = declared(net)
            moved = seconds_to_move(traffic(work) if quick else 1 << 27)
            moved *= 1 if quick else traffic(work) / (1 << 27)
            floor = products(work) / flops_per_second() + moved
            yield from compared(net.name, checked(net), seconds, floor)


def checked(net: Net) -> dict[str, Step]:
    """The step of each peer that is installed, all from the same weights and on the same batch.

    Raises AssertionError where the losses of one differ in its first three steps.
    """
    found: dict[str, Step] = {}
    wanted: list[float] = []
    for peer in peers.installed():
        with peers.tried(peer.name, net.name):
            step = peer.step(declared(net)) if peer.step else None
            if step is None:
                continue
            losses = [float(step()) for _ in range(3)]
            wanted = wanted or losses
            near = 1e-3 if net.blocks else 2e-5  # batch normalisation magnifies what differs
            peers.agree(losses, wanted, f"{net.name}: {peer.name} and {OWN}", near)
            found[peer.name] = step
    assert len(set(wanted)) == 3, f"{net.name}: the step does not learn: {wanted}"
    return found
