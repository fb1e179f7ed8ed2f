"""Pure metrics over what was retrieved, answered and refused."""
