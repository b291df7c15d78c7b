"""The doctor: checks everything that Sayso depends on, and says how to fix each fault. Changes nothing."""
