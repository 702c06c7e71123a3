"""The subcommands of ``gpumoat``, one module a subject.

Each module has ``register(app)``, which ``gpumoat.cli`` calls. A command that answers a question with values makes
an ``Answer`` and shows it.
"""
