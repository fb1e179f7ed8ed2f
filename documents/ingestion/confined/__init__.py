"""Reading one file in a child process with limits: no network, no files, no secrets.

Parsers are large programs fed by strangers. `run.parse_confined` gives what
`documents.ingestion.parsers.parse` gives, but runs it where a parser that is taken over, hangs
or swells harms nothing: see docs/explanation/hostile-files.md and ADR 0013. The parent's side is
`run` and `decode`, the child's `child`, `confine` and `encode`; this module stays empty, since
both import it and every import makes the child slower to start.
"""
