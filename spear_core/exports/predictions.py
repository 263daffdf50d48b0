"""A prediction for every node, with its confidence, as CSV that a spreadsheet opens safely."""

import csv
import io

import torch

from spear_core.run import Result

HEAD = ("id", "predicted", "confidence", "label", "part", "client")
ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for a formula


def predictions_csv(result: Result) -> str:
    """One row a node: its id, class, confidence, own label, part of the split and client.

    Confidence is the lead of the best class over the second, as a share of both scores' sizes: 0
    where they are equal, at most 1. It is no probability.
    """
    graph, found = result.graph, result.every_prediction
    ids = graph.extra.lines("ids") or [str(i) for i in range(graph.num_nodes)]
    two = found.scores.double().topk(min(2, graph.classes), dim=1).values
    size = two.abs().sum(1).clamp_min(1e-30)
    lead = ((two[:, 0] - two[:, -1]) / size).nan_to_num(1.0, 1.0).clamp(0, 1)
    part = torch.zeros(graph.num_nodes, dtype=torch.int64)
    for number, mask in enumerate((graph.train, graph.val, graph.test), 1):
        part[mask.cpu()] = number
    parts = ("", "train", "val", "test")
    known = graph.known.tolist()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    columns = (found.labels.tolist(), lead.tolist(), graph.y.tolist(), part.tolist())
    owner = result.partition.owner.tolist()
    for i, (guess, sure, label, which) in enumerate(zip(*columns, strict=True)):
        named = graph.names[label] if known[i] else ""
        cells = (safe(ids[i]), safe(graph.names[guess]), f"{sure:.4f}", safe(named))
        writer.writerow((*cells, parts[which], owner[i]))
    return out.getvalue()


def safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are.

    >>> safe("=1+1"), safe("-1"), safe("ana")
    ("'=1+1", '-1', 'ana')
    """
    if not text.startswith(ACTIVE):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
