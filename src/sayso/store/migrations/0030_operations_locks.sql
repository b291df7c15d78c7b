-- Who holds a lock is looked for among what is under way, which has an index of its own: a step may keep the lock of its sequence.
DROP INDEX operations_locks;
