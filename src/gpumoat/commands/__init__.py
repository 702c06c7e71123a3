"""The subcommands of ``gpumoat``, a file each; ``gpumoat.cli`` registers them and does nothing else."""
