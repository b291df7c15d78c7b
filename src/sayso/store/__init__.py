"""The store: the one meeting point of all processes. SQL lives only in this package."""

from sayso.store.bell import Bell
from sayso.store.store import Conflict, Row, Store, Transaction, open_store

__all__ = ["Bell", "Conflict", "Row", "Store", "Transaction", "open_store"]
