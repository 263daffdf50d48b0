"""A run in words: the numbers are those of the run, and odd runs still make sentences."""

from dataclasses import replace

import pytest
import torch

from spear_core import Settings, run
from spear_core.explain.summary import summary
from spear_core.measures.spread import human_bytes, percent
from tests.conftest import need, random_graph

KARATE = Settings(dataset="karate", clients=3)


def test_on_cora_it_says_what_was_measured():
    need("Cora")
    s = Settings(dataset="Cora")
    plain = run(replace(s, shrinkage=False, count_weights=False)).metrics.accuracy
    assert summary(run(s), plain) == (
        "10 clients, most with one of 7 classes, sent 72.9 KiB in all, once. The server names "
        "63.2 % of the test nodes right; a plain mean of the clients would name 53.1 %."
    )


def test_the_numbers_are_those_of_the_run():
    result = run(KARATE)
    words = summary(result, 0.5)
    assert words.startswith("3 clients, ")
    assert f"sent {human_bytes(result.metrics.bytes_up_total)} in all, once." in words
    assert f"names {percent(result.metrics.accuracy, 1)} of the test nodes right" in words
    assert words.endswith("a plain mean of the clients would name 50.0 %.")


def test_the_same_accuracy_is_not_said_twice():
    result = run(KARATE)
    words = summary(result, result.metrics.accuracy)
    assert words.endswith("; so would a plain mean of the clients.")
    assert words.count("%") == 1


def test_one_client_is_no_federation_to_compare_with():
    words = summary(run(replace(KARATE, clients=1)), 0.5)
    assert words.startswith("One client, with two of 2 classes, sent ")
    assert "plain mean" not in words


def test_no_test_node():
    graph = random_graph(1)
    none = torch.zeros(graph.num_nodes, dtype=torch.bool)
    graph = replace(graph, test=none)
    words = summary(run(Settings(clients=2, beta=10), graph))
    assert "no test node" in words
    assert "%" not in words


def test_nothing_sent(five):
    untrained = replace(five, train=torch.zeros(5, dtype=torch.bool))
    words = summary(run(Settings(clients=2, partition="iid"), untrained), 0.5)
    assert words.startswith("2 clients had nothing to send. The server names ")


def test_a_client_may_hold_anything_in_between():
    words = summary(run(Settings(dataset="digits", clients=8, beta=1)))
    assert " of 10 classes each, sent " in words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attacker_count": 1, "flip": "next"}, "3 clients (1 of them lies), "),
        ({"attacker_count": 2, "flip": "next"}, "3 clients (2 of them lie), "),
        ({"edge_noise": 0.2}, "Their edges are noisy. "),
        ({"edge_noise": 0.2, "label_noise": 0.5}, "Their edges and labels are noisy. "),
        ({"epsilon": 1.0}, "Privacy noise (ε = 1) hides what they sent"),
        ({"defence": "median"}, "The server, defended by coordinate median, names "),
    ],
)
def test_what_is_not_clean_is_said(change, said):
    words = summary(run(replace(KARATE, **change)))
    assert said in words
    assert "  " not in words
