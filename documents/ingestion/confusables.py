"""Letters that look like Latin ones, for screening alone.

A hand-kept subset of what Unicode TS #39 lists: Cyrillic, Greek, Armenian, Cherokee, IPA and
small capitals, the ones that pass for a Latin letter in ordinary type. NFKC already
takes care of full-width, mathematical and circled letters.
"""

from __future__ import annotations

_LOOK_ALIKES = {
    "a": "аɑαᴀɐΑА", "b": "ЬьɓʙВΒв", "c": "сϲᴄС", "d": "ԁɗᴅ", "e": "еєɛεᴇҽΕЕ℮", "f": "ғƒϝꜰ",
    "g": "ɡցɢԍ", "h": "һհʜнНΗ", "i": "іıɩιɪӏΙІ¡", "j": "јϳᴊЈ", "k": "κкᴋКΚ", "l": "ⅼʟӀℓ",
    "m": "мᴍМΜ", "n": "ոпɴΝη", "o": "оοօσᴏОΟ੦०", "p": "рρᴘРΡ", "q": "ԛգ", "r": "гʀɾꭇ",
    "s": "ѕʂꜱЅ", "t": "тτᴛТΤ", "u": "υսᴜцʋ", "v": "νѵᴠ", "w": "ԝωшᴡա", "x": "хχХΧ",
    "y": "уүγʏУΥ", "z": "ᴢʐΖ",
}  # fmt: skip

LATIN: dict[str, str] = {
    look_alike: latin for latin, group in _LOOK_ALIKES.items() for look_alike in group
}
