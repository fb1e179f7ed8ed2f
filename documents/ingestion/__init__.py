"""Pure steps from a file to sections, chunks and findings."""
