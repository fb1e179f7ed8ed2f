"""The one text per reason and language in which an answer is declined."""

from __future__ import annotations

from collections.abc import Sequence

from qa.records import Passage, Refusal, RefusalCode

_C = RefusalCode
_ENGLISH = {
    _C.NO_DOCUMENTS: "There is no policy that you may read on this date.",
    _C.BELOW_THRESHOLD: "The policies that you may read do not seem to cover this question.",
    _C.NOT_ANSWERABLE: "The policies that you may read do not answer this question.",
    _C.NO_VALID_CITATION: "No answer could be tied to a passage of a policy, so none is shown.",
    _C.QUOTE_NOT_FOUND: "A quote of the answer does not stand in the policy, so it is not shown.",
    _C.NUMBER_NOT_SUPPORTED: (
        "A figure of the answer does not stand in the policy, so it is not shown."
    ),
    _C.MODALITY_MISMATCH: (
        "The answer said must, may or not otherwise than the policy, so it is not shown."
    ),
    _C.NOT_SUPPORTED: (
        "The answer was not supported by the passage that it cites, so it is not shown."
    ),
    _C.OUTPUT_POLICY: (
        "The answer held an address or a request that no policy supports, so it is not shown."
    ),
    _C.MODEL_ERROR: "The language model gave no complete answer. Please ask again in a moment.",
    _C.BUDGET_EXHAUSTED: "The budget for the language model is spent.",
    _C.INVALID_QUESTION: "This is not a question that can be looked up.",
}
_CHINESE = {
    _C.NO_DOCUMENTS: "在此日期沒有您可閱讀的規章。",
    _C.BELOW_THRESHOLD: "您可閱讀的規章似乎未涵蓋這個問題。",
    _C.NOT_ANSWERABLE: "您可閱讀的規章沒有回答這個問題。",
    _C.NO_VALID_CITATION: "沒有任何答案可對應到規章條文，因此不予顯示。",
    _C.QUOTE_NOT_FOUND: "答案中的引文不在規章內，因此不予顯示。",
    _C.NUMBER_NOT_SUPPORTED: "答案中的數字不在規章內，因此不予顯示。",
    _C.MODALITY_MISMATCH: "答案的應、得或不得與規章不符，因此不予顯示。",
    _C.NOT_SUPPORTED: "答案未獲所引條文支持，因此不予顯示。",
    _C.OUTPUT_POLICY: "答案含有規章未載明的網址或要求，因此不予顯示。",
    _C.MODEL_ERROR: "語言模型未能給出完整答案，請稍後再問。",
    _C.BUDGET_EXHAUSTED: "語言模型的預算已用完。",
    _C.INVALID_QUESTION: "這不是可以查詢的問題。",
}


def refusal(
    code: RefusalCode,
    *,
    language: str,
    passages: Sequence[Passage] = (),
    missing: str | None = None,
    top_score: float | None = None,
    threshold: float | None = None,
) -> Refusal:
    """The refusal for a reason, with what was looked at and whom to ask.

    Args:
        code: the reason.
        language: of the question; Chinese ones are refused in Traditional Chinese.
        passages: what was retrieved for this reader, best first.
        missing: what the documents lack, already checked, at most 200 characters.
        top_score: of the gate that refused, 0 to 1.
        threshold: of that gate.
    """
    texts = _CHINESE if language.startswith("zh") else _ENGLISH
    return Refusal(
        code=code,
        message=texts[code],
        missing=missing,
        looked_at=tuple(dict.fromkeys(passage.document for passage in passages)),
        ask=next((passage.owner for passage in passages if passage.owner), None),
        top_score=top_score,
        threshold=threshold,
    )
