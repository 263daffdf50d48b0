"""Nodes dealt by the communities of the graph."""

import random
import threading

import numpy as np

_igraph = threading.Lock()  # igraph has one generator of random numbers for all threads


def louvain(edge_index: np.ndarray, n: int, clients: int, seed: int) -> np.ndarray:
    """Communities found by igraph, the largest first to the client that is smallest so far."""
    import igraph

    network = igraph.Graph(n=n, edges=edge_index.T).simplify()
    with _igraph:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            membership = np.array(network.community_multilevel().membership)
        finally:
            igraph.set_random_number_generator(random)
    amount = np.bincount(membership)
    home = np.empty(len(amount), dtype=np.int64)
    sizes = np.zeros(clients, dtype=np.int64)
    for community in np.argsort(-amount, kind="stable"):
        home[community] = np.argmin(sizes)
        sizes[home[community]] += amount[community]
    return home[membership]
