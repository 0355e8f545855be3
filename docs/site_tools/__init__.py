"""Build steps of the documentation site; MkDocs loads `hooks.py` (see `mkdocs.yml`)."""
