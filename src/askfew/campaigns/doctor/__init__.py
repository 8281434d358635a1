"""Whether a store is whole: every campaign replayed, every answer counted."""
