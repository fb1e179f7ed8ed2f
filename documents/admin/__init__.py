"""The admin of policies, versions, quarantine, labels and people.

Each list is limited to what its reader manages (`base.StaffAdmin`), and each change goes
through `documents.actions` or is audited by `base.AuditedAdmin`.
"""

from documents.admin import (
    audit_events,
    batches,
    labels,
    people,
    policies,
    quarantine,
    readers,
    versions,
)

__all__ = [
    "audit_events",
    "batches",
    "labels",
    "people",
    "policies",
    "quarantine",
    "readers",
    "versions",
]
