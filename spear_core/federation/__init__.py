"""SPEAR on Flower: the engine's client step and server step between real machines.

Nothing here computes anything new. Flower carries one question to every client and one answer
back: `client_app` reads the node's own file and calls the engine's `upload`, `server_app` checks
the answers and calls the engine's `estimate`. Needs `pip install -r requirements-federation.txt`.
"""
