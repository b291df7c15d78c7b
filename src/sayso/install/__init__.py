"""Connecting agents: where each client keeps its servers, and putting Sayso there without touching anything else."""
