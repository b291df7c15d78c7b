"""The doctor: looks at everything that Sayso stands on, and names each fault with what mends it. Changes nothing."""
