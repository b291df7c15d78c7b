"""Takes in the fixtures of this folder."""

from tests.e2e.clients.fixtures import client_program as client_program
