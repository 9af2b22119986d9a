#!/usr/bin/env python3
"""Draws who talks to whom in each exchange, from what tests/comm/exchange_messages.cpp prints.

usage: tools/draw_exchanges.py MESSAGES.csv OUT.svg

One panel an exchange: ranks are dots in two nodes, an arrow carries data, its colour says in which round (scaled to
the panel's own number of rounds), its width how much. The background is painted, so dark pages show it too.
"""
import collections
import csv
import math
import sys

RANKS, COLUMNS = 8, 4
WIDTH, PANEL_HEIGHT, LEGEND_HEIGHT = 960, 256, 64
RING, DOT = 72, 9
ARRAY_BYTES = 4 * 51206
DASHES = {"read": ' stroke-dasharray="5 2.5"', "look": ' stroke-dasharray="1.5 2.5"'}
COLOURS = ((13, 8, 135), (126, 3, 168), (204, 71, 120), (240, 140, 40))  # plasma, without its pale end

# name, settings, title, which epochs: the last of a period, or all of them
PANELS = (
    ("none", "", "none, ensemble", "last"),
    ("ring", "", "ring, arar", "last"),
    ("chunked_ring", "", "chunked_ring", "last"),
    ("recursive_doubling", "", "recursive_doubling", "last"),
    ("rabenseifner", "", "rabenseifner", "last"),
    ("double_tree", "", "double_tree", "last"),
    ("lanes", "", "lanes", "last"),
    ("shared_node", "", "shared_node", "last"),
    ("all_reduce", "", "all_reduce", "last"),
    ("compressed", "", "compressed", "last"),
    ("adasum", "", "adasum", "last"),
    ("rma_ring", "", "rma_ring", "last"),
    ("gossip", "", "gossip: three epochs", "all"),
    ("rma_arar_arar", "", "rma_arar_arar: outer epoch", "last"),
    ("arar_arar", "", "arar_arar: outer epoch", "last"),
    ("grouped", "rule: inner_then_outer_then_broadcast", "rule ..._then_broadcast", "last"),
    ("grouped", "rule: outer_only", "rule outer_only", "last"),
    ("grouped", "inner: shared_node, outer: rabenseifner", "shared_node + rabenseifner", "last"),
    ("served", "", "served: all own a piece", "last"),
    ("served", "owners: master", "served: a master", "last"),
)

Strand = collections.namedtuple("Strand", "round kind start end bytes")


def read(path):
    """Strands of each panel, by (name, settings), and how many epochs they are of."""
    epochs = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            epochs[row["exchange"], row["settings"]][int(row["epoch"])].append(
                Strand(int(row["round"]), row["kind"], int(row["from"]), int(row["to"]), int(row["bytes"])))
    return epochs


def strands_of(epochs, which):
    if not epochs:
        return []
    if which == "last":
        return epochs[max(epochs)]
    first = min(epochs)
    return [strand._replace(round=epoch - first + 1) for epoch in epochs for strand in epochs[epoch]]


def colour(share):
    place = min(max(share, 0), 1) * (len(COLOURS) - 1)
    low = min(int(place), len(COLOURS) - 2)
    mix = [round(a + (b - a) * (place - low)) for a, b in zip(COLOURS[low], COLOURS[low + 1])]
    return "#%02x%02x%02x" % tuple(mix)


def width_of(size):
    return 0.8 if size == 0 else max(0.7, 2 * math.sqrt(size / ARRAY_BYTES))


def place(rank):
    """Clockwise, so that a ring is a circle: node 0 to the left, node 1 to the right."""
    angle = math.radians(-157.5 + 45 * rank)
    return (RING * math.sin(angle) + (-9 if rank < RANKS // 2 else 9), -RING * math.cos(angle))


def line(start, end, stroke, width, extra=""):
    return (f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
            f'stroke="{stroke}" stroke-width="{width:.2f}"{extra}/>')


def text(x, y, words, size=11, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{extra}>{words}</text>'


def bundle(strands, last_round):
    """All strands between two ranks, side by side; one head for each direction."""
    low, high = sorted((strands[0].start, strands[0].end))
    (x0, y0), (x1, y1) = place(low), place(high)
    if strands[0].kind == "look":
        return [line((x0, y0), (x1, y1), colour(0), width_of(0), DASHES["look"])]
    length = math.hypot(x1 - x0, y1 - y0)
    along = ((x1 - x0) / length, (y1 - y0) / length)
    across = (-along[1], along[0])
    forth = sorted(s for s in strands if s.start == low)
    back = sorted((s for s in strands if s.start != low), reverse=True)
    widths = [width_of(s.bytes) for s in forth + back]
    gap = 0.5
    middle = 1.2 if forth and back else 0  # between the directions
    whole = sum(widths) + gap * (len(widths) - 1) + middle
    shrink = min(1, 15 / whole)
    parts, offset = [], -whole * shrink / 2
    for group, forwards in ((forth, True), (back, False)):
        if not group:
            continue
        begin = offset
        bounds = (DOT + 1.5, length - DOT - 1.5)
        group_width = (sum(width_of(s.bytes) for s in group) + gap * (len(group) - 1)) * shrink
        half = max(2.6, group_width / 2 + 1.2)
        head = min(1.7 * half, 8)
        for strand in group:
            wide = width_of(strand.bytes) * shrink
            side = offset + wide / 2
            span = (bounds[0], bounds[1] - head + 0.5) if forwards else (bounds[0] + head - 0.5, bounds[1])
            ends = [(x0 + along[0] * t + across[0] * side, y0 + along[1] * t + across[1] * side) for t in span]
            parts.append(line(*ends, colour((strand.round - 1) / max(1, last_round - 1)), wide,
                              DASHES.get(strand.kind, "")))
            offset += wide + gap * shrink
        offset += middle * shrink - gap * shrink
        side = begin + group_width / 2
        tip, base = (bounds[1], bounds[1] - head) if forwards else (bounds[0], bounds[0] + head)
        points = [(tip, side), (base, side - half), (base, side + half)]
        points = " ".join(f"{x0 + along[0] * t + across[0] * s:.1f},{y0 + along[1] * t + across[1] * s:.1f}"
                          for t, s in points)
        shade = colour((max(s.round for s in group) - 1) / max(1, last_round - 1))
        parts.append(f'<polygon points="{points}" fill="{shade}"/>')
    return parts


def caption(strands, which):
    """What the busiest rank sends or reads."""
    if not strands:
        return "no message"
    if strands[0].kind == "look" and len({s.kind for s in strands}) == 1:
        return "no message: all read the same memory"
    spent = collections.Counter()
    number = collections.Counter()
    for strand in strands:
        if strand.kind != "look":
            payer = strand.end if strand.kind == "read" else strand.start
            spent[payer] += strand.bytes
            number[payer] += 1
    epochs = max(s.round for s in strands) if which == "all" else 1
    count, size = max(number.values()) // epochs, max(spent.values()) / epochs / 1e6
    if strands[0].kind == "library":
        return f"one call, {size:.2f} MB"
    kinds = {s.kind for s in strands} - {"look"}
    noun = {"message": "message", "read": "read"}[kinds.pop()] if len(kinds) == 1 else "message or read"
    last = max(s.round for s in strands)
    rounds = f", {last} rounds" if noun == "message" and which == "last" and last > 1 else ""
    plural = "" if count == 1 else "s" if noun != "message or read" else ""
    noun = "messages and reads" if noun == "message or read" else noun
    rounds = " an epoch" if which == "all" else rounds
    return f"{count} {noun}{plural}, {size:.2f} MB{rounds}"


def panel(strands, title, which, one_node):
    parts = [text(0, -108, title, 13, ' font-weight="600"'),
             text(0, 118, caption(strands, which), 11, ' fill="#555"')]
    if one_node:
        parts.append('<rect x="-98" y="-92" width="196" height="184" rx="22" fill="#e9edf2"/>')
    else:
        for x in (-98, 4):
            parts.append(f'<rect x="{x}" y="-92" width="94" height="184" rx="22" fill="#e9edf2"/>')
    last_round = max((strand.round for strand in strands), default=1)
    if any(strand.kind == "library" for strand in strands):
        for rank in range(RANKS):
            x, y = place(rank)
            parts.append(line((x, y), (0.3 * x, 0.2 * y), colour(0), 2))
        parts.append('<rect x="-29" y="-16" width="58" height="32" rx="8" fill="#fff" stroke="#0d0887" '
                     'stroke-width="1.5"/>')
        parts.append(text(0, 4, "MPI library", 9))
    pairs = collections.defaultdict(list)
    for strand in strands:
        if strand.kind != "library":
            pairs[tuple(sorted((strand.start, strand.end)))].append(strand)
    for strands_of_pair in pairs.values():
        parts += bundle(strands_of_pair, last_round)
    for rank in range(RANKS):
        x, y = place(rank)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DOT}" fill="#333b45"/>')
        parts.append(text(x, y + 3.6, rank, 10, ' fill="#fff"'))
    return parts


def legend(y):
    steps = 40
    parts = [text(78, y + 4, "first round", 11, ' text-anchor="end"')]
    for step in range(steps):
        parts.append(f'<rect x="{84 + 3 * step}" y="{y - 5}" width="3.2" height="10" '
                     f'fill="{colour(step / (steps - 1))}"/>')
    parts.append(text(210, y + 4, "last round", 11, ' text-anchor="start"'))
    signs = ((310, width_of(ARRAY_BYTES), "", "whole array, 0.2 MB"),
             (470, width_of(ARRAY_BYTES / 8), "", "an eighth"),
             (574, 2, DASHES["read"], "one-sided read"),
             (708, width_of(0), DASHES["look"], "shared memory"))
    for x, wide, dashes, words in signs:
        parts += [line((x, y), (x + 26, y), "#333b45", wide, dashes),
                  text(x + 32, y + 4, words, 11, ' text-anchor="start"')]
    parts.append(f'<rect x="842" y="{y - 8}" width="22" height="16" rx="5" fill="#e9edf2"/>')
    parts.append(text(870, y + 4, "a node", 11, ' text-anchor="start"'))
    return parts


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    epochs = read(sys.argv[1])
    height = LEGEND_HEIGHT + PANEL_HEIGHT * math.ceil(len(PANELS) / COLUMNS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
             f'height="{height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" fill="#222" '
             'text-anchor="middle">',
             "<title>Who talks to whom in each exchange, on 8 ranks and two nodes</title>",
             f'<rect width="{WIDTH}" height="{height}" rx="12" fill="#fff"/>']
    for index, (name, settings, title, which) in enumerate(PANELS):
        x = WIDTH / COLUMNS * (index % COLUMNS + 0.5)
        y = PANEL_HEIGHT * (index // COLUMNS) + 134
        parts.append(f'<g transform="translate({x:.0f} {y:.0f})">')
        parts += panel(strands_of(epochs.get((name, settings), {}), which), title, which, name == "shared_node")
        parts.append("</g>")
    parts += legend(height - LEGEND_HEIGHT // 2 + 4)
    parts.append("</svg>")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
