"""What keeps the embedded Postgres and Redis running; `legalqa.embedded` is the way in."""
