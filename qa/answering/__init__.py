"""Pure steps from passages to a verified answer or a refusal."""
