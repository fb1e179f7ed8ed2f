"""Verification: what stands between a draft and a reader, one module a check."""

from qa.answering.verify.checked import Checked, verify_claims

__all__ = ["Checked", "verify_claims"]
