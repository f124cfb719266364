"""Layout: nothing overlaps, edges lead down and around boxes, clusters hold together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from pictures import random_levels

import deepgraph as dg
from deepgraph.show.columns import columns
from deepgraph.show.drawing import Cluster, Drawing, Edge, Node, drawing
from deepgraph.show.layered import Box, Point, Route, layered
from deepgraph.show.layout import Layout, layout
from deepgraph.show.measure import shortened, width
from deepgraph.show.ranks import long_links, ranks
from deepgraph.show.repeat import repeated
from deepgraph.show.rows import Link, crossings, gap, rows, untangle

SEEDS = range(5)


def random_drawing(seed: int, count: int = 40, clusters: int = 6) -> Drawing:
    """Nodes of many widths, most in clusters (each a run of nodes), edges to later nodes."""
    rng = random.Random(seed)
    nodes = []
    for k in range(count):
        c = k * clusters // count
        kind = rng.choice(["elementwise", "parameter", "view"])
        where = c if k % 7 and clusters else None
        nodes.append(Node("x" * rng.randint(1, 30), kind, "float32", "[n]", cluster=where,
                          ordered=rng.random() < 0.5))  # fmt: skip
    edges = {
        Edge(rng.randint(max(0, head - 12), head - 1), head, rng.choice(["data", "alias"]))
        for head in range(1, count) for _ in range(rng.randint(0, 2))
        if not clusters or head % 7  # what stands alone reads nothing, so clusters are convex
    }  # fmt: skip
    named = tuple(
        Cluster(f"{c} map " + "y" * rng.randint(0, 40), "over (n,)") for c in range(clusters)
    )
    return Drawing(
        tuple(nodes), tuple(sorted(edges, key=lambda e: (e.head, e.tail, e.kind))), named
    )


def planned(seed: int) -> Drawing:
    return repeated(drawing(random_levels(seed, 30)[2]))


CASES = [
    *(pytest.param(random_drawing(s), id=f"random{s}") for s in SEEDS),
    *(pytest.param(random_drawing(s, 80, 0), id=f"flat{s}") for s in SEEDS),
    *(pytest.param(planned(s), id=f"plan{s}") for s in SEEDS),
]


def overlap(a: Box, b: Box) -> bool:
    return (
        a.x < b.x + b.width
        and b.x < a.x + a.width
        and a.y < b.y + b.height
        and b.y < a.y + a.height
    )


def within(inner: Box, outer: Box) -> bool:
    return (
        outer.x <= inner.x and inner.x + inner.width <= outer.x + outer.width
        and outer.y <= inner.y and inner.y + inner.height <= outer.y + outer.height
    )  # fmt: skip


def along(route: Route) -> Iterator[Point]:
    """Points on the lines and curves of a route."""
    for a, b in itertools.pairwise(route):
        for k in range(11):
            t = k / 10
            middle = (a.y + b.y) / 2
            ys = (a.y, middle, middle, b.y) if a.x != b.x else (a.y, a.y, b.y, b.y)
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            yield Point(
                sum(w * x for w, x in zip(weights, (a.x, a.x, b.x, b.x), strict=True)),
                sum(w * y for w, y in zip(weights, ys, strict=True)),
            )


def placed(shown: Drawing) -> Layout:
    made = layout(shown)
    assert all(made.routes), "a small drawing draws every edge"
    return made


@pytest.mark.parametrize("shown", CASES)
def test_no_two_boxes_overlap_and_clusters_hold_their_own(shown: Drawing) -> None:
    made = placed(shown)
    for a, b in itertools.combinations(made.nodes, 2):
        assert not overlap(a, b)
    for a, b in itertools.combinations(made.clusters, 2):
        assert not overlap(a, b)
    for c, cluster in enumerate(made.clusters):
        assert within(made.titles[c], cluster)
        for node, box in zip(shown.nodes, made.nodes, strict=True):
            assert within(box, cluster) if node.cluster == c else not overlap(box, cluster)
            assert not overlap(box, made.titles[c])
    whole = Box(0, 0, made.width, made.height)
    assert all(within(b, whole) for b in (*made.nodes, *made.clusters))


@pytest.mark.parametrize("shown", CASES)
def test_text_fits_its_box(shown: Drawing) -> None:
    made = placed(shown)
    for box, text in zip(made.nodes, made.texts, strict=True):
        assert text.size[0] + 8 <= box.width
        assert text.size[1] <= box.height
    for title, text in zip(made.titles, made.headings, strict=True):
        assert (title.width, title.height) == text.size


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_text_is_apart_from_all_other_text(count: int) -> None:
    made = layout(random_drawing(0, count, count // 8))
    lettered = [*zip(made.nodes, made.texts, strict=True)]
    assert all(t.size[0] <= b.width and t.size[1] <= b.height for b, t in lettered)
    boxes = sorted([*made.nodes, *made.titles], key=lambda box: box.y)
    for k, box in enumerate(boxes):
        for other in boxes[k + 1 :]:
            if other.y >= box.y + box.height:
                break
            assert not overlap(box, other)


@pytest.mark.parametrize("shown", CASES)
def test_edges_lead_down_from_box_to_box_and_around_all_others(shown: Drawing) -> None:
    made = placed(shown)
    for edge, route in zip(shown.edges, made.routes, strict=True):
        tail, head = made.nodes[edge.tail], made.nodes[edge.head]
        assert tail.x <= route[0].x <= tail.x + tail.width
        assert route[0].y == pytest.approx(tail.y + tail.height)
        assert head.x <= route[-1].x <= head.x + head.width
        assert route[-1].y == pytest.approx(head.y)
        assert all(a.y <= b.y + 1e-6 for a, b in itertools.pairwise(route))
        ends = {edge.tail, edge.head}
        clusters = {shown.nodes[k].cluster for k in ends}
        others = [b for k, b in enumerate(made.nodes) if k not in ends]
        others += [b for c, b in enumerate(made.clusters) if c not in clusters]
        others += made.titles
        for x, y in along(route):
            assert not any(overlap(Box(x, y, 0, 0), b) for b in others)


def test_a_node_between_clusters_stands_between_them() -> None:
    places = (0, 0, 0, None, 1)
    nodes = tuple(Node(f"{k}", "elementwise", cluster=c) for k, c in enumerate(places))
    edges = tuple(Edge(k, k + 1) for k in range(4))
    made = placed(Drawing(nodes, edges, (Cluster("0 map"), Cluster("1 map"))))
    first, second = made.clusters
    assert first.y + first.height < made.nodes[3].y
    assert made.nodes[3].y + made.nodes[3].height < second.y


def test_a_title_moves_the_ports_of_a_narrow_cluster() -> None:
    nodes = (Node("a", "parameter"), Node("b", "parameter"), Node("c", "call", cluster=0))
    long = Cluster("0 map with_a_very_long_name", "over (batch, 10)")
    made = placed(Drawing(nodes, (Edge(0, 2), Edge(1, 2)), (long,)))
    title = made.titles[0]
    assert within(title, made.clusters[0])
    for route in made.routes:
        assert not any(overlap(Box(x, y, 0, 0), title) for x, y in along(route))


def test_operands_enter_from_left_to_right_where_order_matters() -> None:
    x, y, z = (dg.placeholder(name, (3,)) for name in "xyz")
    for expr in (y - x, x - y, dg.where(z > 0, y, x), dg.where(z > 0, x, y)):
        shown = drawing(expr)
        made = placed(shown)
        ends = [r[-1].x for e, r in zip(shown.edges, made.routes, strict=True)
                if e.head == len(shown.nodes) - 1]  # fmt: skip
        assert ends == sorted(set(ends))
        assert len(ends) >= 2


def test_a_chain_is_a_straight_line() -> None:
    x = dg.placeholder("x", ("n",))
    for _ in range(20):
        x = dg.tanh(x)
    made = placed(drawing(x))
    assert len({round(b.x + b.width / 2, 3) for b in made.nodes}) == 1


def test_the_main_line_stays_straight_beside_its_branches() -> None:
    x = dg.placeholder("x", ("n", 4))
    for k in range(8):
        x = x @ dg.placeholder(f"w{k}", (4, 4))
    shown = drawing(x)
    made = placed(shown)
    main = [b for n, b in zip(shown.nodes, made.nodes, strict=True) if n.kind == "call"]
    centres = [b.x + b.width / 2 for b in main]
    assert max(centres) - min(centres) < 80


@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_lead_down_and_are_shorter_than_the_longest_path_layering(seed: int) -> None:
    rng = random.Random(seed)
    count = 60
    pairs = sorted(
        {(rng.randint(max(0, b - 15), b - 1), b) for b in range(1, count) for _ in range(2)}
    )
    top, bottom = {0, 1}, {count - 1}
    pairs = [p for p in pairs if p[1] not in top and p[0] not in bottom]
    row = ranks(count, pairs, top, bottom)
    assert all(row[a] < row[b] for a, b in pairs)
    assert {row[v] for v in top} == {0}
    assert all(row[v] > 0 for v in range(count) if v not in top)
    assert all(row[v] < row[count - 1] for v in range(count - 1))
    plain = [0] * count
    for a, b in pairs:
        plain[b] = max(plain[b], plain[a] + 1)

    def crossed(row: list[int]) -> int:
        lowest: dict[int, int] = {}
        for a, b in pairs:
            lowest[a] = max(lowest.get(a, 0), row[b])
        return sum(low - row[a] for a, low in lowest.items())

    assert crossed(ranks(count, pairs)) <= crossed(plain)


def test_a_leaf_stands_above_its_first_reader() -> None:
    assert ranks(5, [(0, 1), (1, 2), (2, 4), (3, 4)]) == [0, 1, 2, 2, 3]
    assert ranks(6, [(0, 2), (1, 2), (2, 3), (3, 5), (4, 5)]) == [0, 0, 1, 2, 2, 3]


def test_a_branch_hangs_from_its_end() -> None:
    # 4 -> 5 -> 6 reads nothing else and is read only by 7: it needs no line beside 0 -> ... -> 3
    assert ranks(8, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (3, 7), (6, 7)])[4:7] == [1, 2, 3]


@pytest.mark.parametrize("budget", [0, 3, 10, 1000])
def test_long_links_are_the_longest_beyond_the_budget(budget: int) -> None:
    row = list(range(12))
    pairs = [(0, 11), (0, 5), (1, 3), (2, 8), (3, 4), (4, 9)]
    cut = long_links(row, pairs, budget)
    kept = [row[b] - row[a] for k, (a, b) in enumerate(pairs) if k not in cut]
    gone = [row[b] - row[a] for k, (a, b) in enumerate(pairs) if k in cut]
    assert max(kept) < min(gone, default=99)
    lowest: dict[int, int] = {}
    for k, (a, b) in enumerate(pairs):
        if k not in cut:
            lowest[a] = max(lowest.get(a, 0), row[b])
    assert sum(low - row[a] - 1 for a, low in lowest.items()) <= budget
    assert cut == (set() if budget == 1000 else cut)


def test_an_edge_too_long_to_draw_is_named_at_both_ends() -> None:
    count = 2500
    nodes = tuple(Node(f"{k}", "elementwise") for k in range(count))
    chain = [Edge(k, k + 1) for k in range(count - 1)]
    nested = [Edge(k, count - 1 - k) for k in range(count // 2 - 1)]
    shown = Drawing(nodes, tuple(chain + nested))
    made = layout(shown)
    missing = [e for e, r in zip(shown.edges, made.routes, strict=True) if not r]
    assert 0 < len(missing) < len(nested)
    assert set(missing) <= set(nested)
    for edge in missing:
        assert f"↓{edge.tail}" in made.texts[edge.tail].details[-1]
        assert f"↑{edge.tail}" in made.texts[edge.head].details[-1]


def brute(drawn_rows: list[list[int]], links: list[Link]) -> int:
    """Crossings of straight lines between two rows, pair by pair."""
    place = {v: k for row in drawn_rows for k, v in enumerate(row)}
    ends = [(place[a.tail], place[a.head]) for a in links]
    return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in itertools.combinations(ends, 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_crossings_are_counted_and_become_fewer(seed: int) -> None:
    rng = random.Random(seed)
    pairs = sorted({(rng.randrange(8), 8 + rng.randrange(8)) for _ in range(20)})
    links = [Link(a, b, 5.0, 5.0) for a, b in pairs]
    drawn = rows([10.0] * 16, [0] * 8 + [1] * 8, links)
    before = crossings(drawn)
    assert before == brute(drawn.rows, links)
    untangle(drawn)
    assert crossings(drawn) == brute(drawn.rows, links) < before
    assert sorted(map(sorted, drawn.rows)) == [[*range(8)], [*range(8, 16)]]


def test_crossings_that_need_not_be_are_none() -> None:
    order = [3, 0, 4, 1, 2]  # a permutation of parallel links
    links = [Link(k, 5 + order[k], 5.0, 5.0) for k in range(5)]
    drawn = rows([10.0] * 10, [0] * 5 + [1] * 5, links)
    untangle(drawn)
    assert crossings(drawn) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_neighbours_in_a_row_keep_their_distance(seed: int) -> None:
    rng = random.Random(seed)
    count = 60
    widths = [rng.uniform(0, 200) for _ in range(count)]
    pairs = sorted({(rng.randint(0, b - 1), b) for b in range(1, count) for _ in range(2)})
    links = [Link(a, b, rng.uniform(0, widths[a]), rng.uniform(0, widths[b])) for a, b in pairs]
    drawn = rows(widths, ranks(count, pairs), links)
    untangle(drawn)
    x = columns(drawn)
    assert min(x) == 0
    for row in drawn.rows:
        for u, v in itertools.pairwise(row):
            assert x[v] - x[u] - drawn.widths[u] >= gap(drawn, u, v) - 1e-6


def test_links_of_one_tail_share_their_way() -> None:
    chain = [Link(k, k + 1, 5.0, 5.0) for k in range(6)]
    made = layered(
        ((10.0, 10.0),) * 7, (*range(7),), (*chain, Link(0, 5, 5.0, 5.0), Link(0, 6, 5.0, 5.0))
    )
    short, long = made.routes[-2], made.routes[-1]
    assert long[: len(short) - 2] == short[:-2]


def test_a_leaf_read_far_below_is_drawn_again() -> None:
    p = dg.placeholder("p", (3,))
    y = p
    for _ in range(12):
        y = dg.tanh(y)
    shown = repeated(drawing(y * p + p))
    again = [k for k, n in enumerate(shown.nodes) if n.repeat]
    assert [shown.nodes[k].label for k in again] == ["p", "p"]
    assert all(shown.nodes[k].details == () for k in again)
    assert [e.head - e.tail for e in shown.edges if e.tail in again] == [1, 1]
    assert all(e.tail < e.head for e in shown.edges)
    assert len(repeated(drawing(dg.tanh(p) * p)).nodes) == 3


def test_widths_bound_what_a_wide_face_takes() -> None:
    assert width("iiii", 10) < width("mmmm", 10)
    assert width("漢字", 10) > 20
    assert width("e\u0301", 10) == width("e", 10)
    assert width("", 10) == 0


def test_shortened_text_keeps_both_ends() -> None:
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 10) == "abcdef…ijk"
