"""`ingest`, `chunk`, `screen`, `export_model`."""
