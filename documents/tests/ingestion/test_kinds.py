from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    # The scope of the negation and the subject.
    ("No employee may accept gifts.", ChunkKind.PROHIBITION),
    ("Neither party shall assign this contract.", ChunkKind.PROHIBITION),
    ("The tenant shall be neither sued nor evicted.", ChunkKind.PROHIBITION),
    ("Drivers are not allowed to smoke.", ChunkKind.PROHIBITION),
    ("The supplier agrees not to sell to others.", ChunkKind.PROHIBITION),
    ("Managers shall not be required to sign.", ChunkKind.PERMISSION),
    ("You do not have to attend.", ChunkKind.PERMISSION),
    ("The carrier shall not fail to report losses.", ChunkKind.OBLIGATION),
    ("Whoever forges a badge commits an offence.", ChunkKind.PROHIBITION),
    # Modals that rule nothing.
    ("Delays may have many causes.", ChunkKind.GENERAL),
    ("We cannot guarantee the result.", ChunkKind.GENERAL),
    ("We are not responsible for other sites.", ChunkKind.GENERAL),
    ("The Act shall be cited as the Rail Act.", ChunkKind.GENERAL),
    ("This chapter shall not apply to guests.", ChunkKind.GENERAL),
    ("Nothing in this policy shall limit other rules.", ChunkKind.GENERAL),
    ("Records that may be shared are listed below.", ChunkKind.GENERAL),
    ("Items that may be lost must be labelled.", ChunkKind.OBLIGATION),
    ("If a person may be at risk, the nurse shall call for help.", ChunkKind.OBLIGATION),
    ("Guests in March may enter by the side door.", ChunkKind.PERMISSION),
    ("The office is closed on 5 May 2025.", ChunkKind.GENERAL),
    ("The landlord may require that the tenant leave.", ChunkKind.PERMISSION),
    ("Data is erased by means of a shredder.", ChunkKind.GENERAL),
    # Definitions.
    ("References to staff include temporary staff.", ChunkKind.DEFINITION),
    ("A group of related firms means, in relation to a bank, its parents.", ChunkKind.DEFINITION),
    ("**Visitor** means a person without a badge.", ChunkKind.DEFINITION),
    ('"Site" shall have the meaning given in Annex A.', ChunkKind.DEFINITION),
    ("The following terms shall apply as defined here.", ChunkKind.DEFINITION),
    # Rights.
    ("- the right to see the file;", ChunkKind.RIGHT),
    ("We reserve the right to close the site.", ChunkKind.RIGHT),
    ("The author grants the firm a licence to print.", ChunkKind.RIGHT),
    # A list is what its lead-in says.
    ("The owner must:\n(a) not sleep;\n(b) never leave.", ChunkKind.OBLIGATION),
    ("Guests may:\n- bring food, which must be sealed;\n- sit down.", ChunkKind.PERMISSION),
    # Chinese.
    ("本法所稱車輛，謂汽車及電車。", ChunkKind.DEFINITION),
    ("稱員工者，謂受僱之人。", ChunkKind.DEFINITION),
    ("本辦法用詞，定義如下：\n一、車輛：汽車。", ChunkKind.DEFINITION),
    ("申請人應備文件如附表，並應於三日內繳交。", ChunkKind.OBLIGATION),
    ("應記載事項由主管機關公告。", ChunkKind.GENERAL),
    ("本公司对此不承担责任，亦概不负责。", ChunkKind.GENERAL),
    ("承租人負賠償責任。", ChunkKind.OBLIGATION),
    ("如果法律禁止，請告訴我們。", ChunkKind.GENERAL),
    ("土地所有權屬於國家。", ChunkKind.GENERAL),
    ("主管得命其改善。但不得逾三日。", ChunkKind.PERMISSION),
    ("請勿拍照。", ChunkKind.PROHIBITION),
    ("申請程序如下：\n一、填表。\n二、送件。", ChunkKind.PROCEDURE),
]


@pytest.mark.parametrize(("text", "kind"), EXAMPLES)
def test_kind_of_clause(text: str, kind: ChunkKind) -> None:
    assert classify(text) is kind


def test_longer_clause_is_what_most_of_its_sentences_are() -> None:
    text = "Staff must lock doors. Staff must close windows. Guests may not stay."
    assert classify(text) is ChunkKind.OBLIGATION


def test_stricter_kind_wins_a_draw() -> None:
    assert classify("Staff may take photos. They must not publish them.") is ChunkKind.PROHIBITION


def test_commands_in_sequence_are_a_procedure() -> None:
    text = "Open the form. Then enter your name. Finally, press Send."
    assert classify(text) is ChunkKind.PROCEDURE


def test_one_command_is_a_duty() -> None:
    assert classify("Lock your screen when you leave.") is ChunkKind.OBLIGATION


def test_exception_does_not_outweigh_its_rule() -> None:
    text = "旅客得攜帶行李。但易燃物不得攜帶。"
    assert classify(text) is ChunkKind.PERMISSION


@given(st.text(max_size=300))
def test_any_text_has_a_kind(text: str) -> None:
    assert classify(text) in ChunkKind


@pytest.mark.timeout(120)  # milliseconds; a quadratic rule takes minutes
@pytest.mark.parametrize("piece", ["may ", "that we ", "“", "(", "應", "the a ", "a, ", "words "])
def test_repetition_costs_little(piece: str) -> None:
    assert classify(piece * 20_000) in ChunkKind
