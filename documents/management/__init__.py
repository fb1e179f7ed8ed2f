"""Commands of documents, and what commands of all apps share."""
