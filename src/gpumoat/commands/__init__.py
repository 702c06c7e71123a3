"""The subcommands of ``gpumoat`` that answer a question, one module a subject.

Each module has ``register(app)``, which ``gpumoat.cli`` calls; each command makes an ``Answer`` and shows it.
"""
