"""From evidence to edits. Knows no framework by name."""
