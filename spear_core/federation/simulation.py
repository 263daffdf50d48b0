"""The Flower app with hundreds of clients on one machine, through Flower's simulation on Ray."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from spear_core.federation import client_app, server_app

LOOPBACK = {"_node_ip_address": "127.0.0.1", "include_dashboard": False, "num_cpus": 2}


def simulate(config: Mapping[str, Any], clients: Path, nodes: int) -> None:
    """Run the app over `client-0.npz`, `client-1.npz`, … of a folder; the report goes to `out`.

    Ray listens on all interfaces unless it is told where to be: here on loopback only.
    """
    from flwr.simulation import run_simulation

    run_simulation(
        server_app=_server({**config, "data-folder": str(clients)}),
        client_app=_client(str(clients)),
        num_supernodes=nodes,
        backend_config={
            "init_args": LOOPBACK,  # type: ignore[dict-item]
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
        },
    )


def _server(config: Mapping[str, Any]) -> ServerApp:
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        context.run_config.update(config)
        server_app.main(grid, context)

    return app


def _client(folder: str) -> ClientApp:
    app = ClientApp()

    @app.query("upload")
    def upload(message: Message, context: Context) -> Message:
        return client_app.send_upload(message, _at(context, folder))

    @app.evaluate()
    def evaluate(message: Message, context: Context) -> Message:
        return client_app.evaluate(message, _at(context, folder))

    return app


def _at(context: Context, folder: str) -> Context:
    """The node's context with the folder in its run config, which may not be changed in place."""
    config = {**context.run_config, "data-folder": folder}
    return Context(context.run_id, context.node_id, context.node_config, context.state, config)
