"""Reading a repository: files, sources, names, processes. Nothing here runs or imports the target."""
