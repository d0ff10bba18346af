"""A plan for people and machines: terminal, HTML, JSON, SARIF, Markdown."""
