"""Distances of prototypes: those of the plain formula, in no more room than their own."""

import os
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core.defences import krum, robust
from spear_core.defences.distance import distances
from tests.browser import ROOT
from tests.defences.made import one_class


@st.composite
def crowds(draw):
    """A few rows of a few numbers: some of them equal, some apart by the last digits."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    width = draw(st.integers(1, 5))
    rows = [torch.randn(width, generator=generator) for _ in range(draw(st.integers(1, 4)))]
    for gap in draw(st.lists(st.sampled_from([0.0, 1e-7, 1e-6, 1e-3]), max_size=5)):
        of = draw(st.integers(0, len(rows) - 1))
        rows.append(rows[of] + gap * torch.randn(width, generator=generator))
    return torch.stack(rows)


@given(crowds())
def test_distances_are_those_of_the_plain_formula(points):
    p = points.double()
    plain = (p[:, None] - p[None]).square().sum(2).sqrt()
    found = distances(p)
    assert torch.allclose(found, plain, rtol=1e-12, atol=0)
    assert torch.equal(found == 0, plain == 0)
    assert torch.equal(found, found.t())


@given(crowds(), st.integers(0, 3), st.booleans())
def test_krum_keeps_what_the_plain_formula_keeps(points, attackers, several):
    up = one_class([1] * len(points), points.tolist())
    kept = krum.nearest(up, attackers, several)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(krum, "distances", lambda p: (p[:, None] - p[None]).square().sum(2).sqrt())
        assert torch.equal(krum.nearest(up, attackers, several), kept)


@given(crowds(), st.data())
def test_the_row_that_holds_the_median_is_that_of_the_plain_formula(points, data):
    some = st.lists(st.integers(1, 4), min_size=len(points), max_size=len(points))
    p, w = points.double(), torch.tensor(data.draw(some)).double()
    w = w / w.sum()
    gap = p[None] - p[:, None]  # (h, h, F)
    far = gap.norm(dim=2)
    pull = torch.where(far > 0, w / far.clamp_min(1e-300), 0.0)
    here = torch.where(far > 0, 0.0, w).sum(1)
    drawn = (pull[:, :, None] * gap).sum(1).norm(dim=1)
    held = (drawn < here * (1 - 1e-9)).nonzero().squeeze(1).tolist()
    assert robust._held(p, w) == (held[0] if held else None)


LARGE = """
import resource, torch
from spear_core.defences.krum import nearest
from spear_core.defences.robust import geometric
from tests.defences.made import one_class
points = torch.randn(200, 6805, generator=torch.Generator().manual_seed(0)) / 100
up = one_class([1] * 200, [[0.0]] * 200).replace(prototypes=points)
nearest(one_class([1] * 9), 3, False)  # whatever torch sets up once
geometric(points[:9], torch.ones(9))
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 300_000_000,) * 2)
assert nearest(up, 3, several=True).sum() == 197
assert geometric(points, torch.ones(200)).isfinite().all()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the room of a process is capped by Linux")
def test_two_hundred_wide_prototypes_need_little_room():
    """A vector for every pair of them would be 2.2 GB; their own numbers are 11 MB."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}  # every thread of many cores maps room of its own
    done = subprocess.run(
        [sys.executable, "-c", LARGE], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
