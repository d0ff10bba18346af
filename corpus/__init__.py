"""The golden corpus: real trainer repositories that are fetched, never committed, and what is to be done to each of them."""
