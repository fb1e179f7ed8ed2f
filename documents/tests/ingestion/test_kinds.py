from __future__ import annotations

import pytest

from documents.ingestion.kinds import classify
from documents.records import ChunkKind

EXAMPLES = [
    ('2.4 "Controller" means the entity that decides.', ChunkKind.DEFINITION),
    ("“Personal data” refers to any information about a person.", ChunkKind.DEFINITION),
    ("Personal Data means any information about a person.", ChunkKind.DEFINITION),
    ('For the purposes of this policy, "device" means a phone or laptop.', ChunkKind.DEFINITION),
    ('7.1 By means of the "portal" staff report breaches.', ChunkKind.GENERAL),
    ("The manager means well.", ChunkKind.GENERAL),
    ("7.2 A shallow review is not enough here.", ChunkKind.GENERAL),
    ("7.3 Staff shall not share personal data.", ChunkKind.PROHIBITION),
    ("Visitors may not enter the server room.", ChunkKind.PROHIBITION),
    ("Smoking is prohibited.", ChunkKind.PROHIBITION),
    ("Staff must not, in any case, pay cash.", ChunkKind.PROHIBITION),
    ("Passwords must be changed each year.", ChunkKind.OBLIGATION),
    ("The owner is required to review the list.", ChunkKind.OBLIGATION),
    ("8.1 Staff may work from home.", ChunkKind.PERMISSION),
    ("Staff are not required to wear a tie.", ChunkKind.PERMISSION),
    ("The report is published in May each year.", ChunkKind.GENERAL),
    ("An employee is entitled to 25 days of leave.", ChunkKind.RIGHT),
    ("Each person has the right to see their file.", ChunkKind.RIGHT),
    ("1. Open the portal.\n2. Choose a form.\n3. Press send.", ChunkKind.PROCEDURE),
    ("Rooms are on the second floor.", ChunkKind.GENERAL),
    ("本辦法所稱員工，係指受僱之人。", ChunkKind.DEFINITION),
    ("「个人数据」是指与个人有关的信息。", ChunkKind.DEFINITION),
    ("員工不得將密碼告知他人。", ChunkKind.PROHIBITION),
    ("禁止吸菸。", ChunkKind.PROHIBITION),
    ("員工應於三日內報告。", ChunkKind.OBLIGATION),
    ("出差须事前审批。", ChunkKind.OBLIGATION),
    ("員工得申請調動。", ChunkKind.PERMISSION),
    ("员工可以在家办公。", ChunkKind.PERMISSION),
    ("當事人有權查閱資料。", ChunkKind.RIGHT),
    ("相應之供應商名單另行公告。", ChunkKind.GENERAL),
    ("取得證書者列冊。", ChunkKind.GENERAL),
    ("由主管指定人員辦理。", ChunkKind.GENERAL),
    ("", ChunkKind.GENERAL),
]


@pytest.mark.parametrize(("text", "kind"), EXAMPLES)
def test_kind_of_clause(text: str, kind: ChunkKind) -> None:
    assert classify(text) is kind


def test_longer_clause_is_what_most_of_its_sentences_are() -> None:
    text = "Staff must lock doors. Staff must close windows. Guests may not stay."
    assert classify(text) is ChunkKind.OBLIGATION


def test_stricter_kind_wins_a_draw() -> None:
    assert classify("Staff may take photos. They must not publish them.") is ChunkKind.PROHIBITION
