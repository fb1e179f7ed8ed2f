"""Words that carry no topic, by language; folded as `fold_for_search` folds.

Negations, quantifiers (`all`, `only`, `without`) and one-letter names are never stop words:
they change what a rule says. Question words are dropped from questions alone.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again against am an and any are as at be because been before being below
between both but by can could did do does doing down during each for from further had has have
having he her here hers herself him himself his how i if in into is it its itself just let may
me might more most must my myself of off on once or other our ours ourselves out over own per
shall she should so some such than that the their theirs them themselves then there these they
this those through to too under until up upon very was we were what when where whether which
while who whom whose why will with would you your yours yourself yourselves
"""

_FRENCH = """
a afin ai au aucun aux avec ce ces cet cette combien comme comment dans de des dont du elle elles
en est et etre eux il ils je la le les leur leurs lui ma mais mes moi mon nos notre nous on ont ou
par pas pour qu quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur ta te
tes toi ton tu un une vos votre vous
"""

_GERMAN = """
aber als am an auch auf aus bei beim bin bis da das dass dem den der des die dies diese diesem
diesen dieser dieses doch durch ein eine einem einen einer eines er es fur hat haben hatte ich ihr
ihre ihrem ihren ihrer im in ist ja kann man mit muss nach oder sich sie sind so soll sollen um und
uns unter vom von vor wann war warum was wenn wer werden wie wieviel wird wir wo zu zum zur uber
"""

_SPANISH = """
a al algo como con cual cuales cuando cuanto cuantos de del desde donde e el ella ellas ellos en
entre era es esa ese eso esta estan este esto estos fue ha hasta hay la las le les lo los mas me mi
mis muy nos o os para pero por porque que quien quienes se ser si sido sin sobre son su sus tambien
te tiene tu tus un una uno unos y ya
"""

_ITALIAN = """
a ad agli ai al alla alle anche che chi ci come con cosa da dal dalla dalle dei del della delle di
dove e ed gli ha hanno i il in io la le lei lo loro ma mi nel nella nelle non o per piu quale quali
quando quanto quanti se si sono su sua sue sul sulla suo suoi ti tra tu un una uno vi
"""

_DUTCH = """
aan als bij dan dat de deze die dit door een en er haar had heb hebben heeft hem het hij hoe hoeveel
hun ik in is ja kan maar me met mij mijn moet naar nog of om onder ons ook op over te tot u uit van
veel voor waar wanneer wat we welke wie wij wordt worden zal ze zich zij zijn zo
"""

_PORTUGUESE = """
a ao aos as com como da das de do dos e ela elas ele eles em entre era essa esse esta este eu foi ha
isso isto ja la lhe mais mas me meu minha na nas no nos o os ou para pela pelas pelo pelos por qual
quais quando quantos que quem se sem ser seu seus sua suas tambem te tem um uma voce
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
    "it": frozenset(_ITALIAN.split()),
    "nl": frozenset(_DUTCH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
}

_QUESTION = """
say says said tell explain describe please mean means know want wonder wondering question
hi hello thanks thank happen happens
"""
_HOW = "many much long often far old soon quickly fast late early big large high"
_LINKING = "of to from in on at by for with without per up out over under off between"
_CHINESE_QUESTION = """
請問 请问 想問 想问 什麼時候 什么时候 甚麼時候 什麼 什么 甚麼 甚么 為什麼 为什么 為何 为何 如何
怎麼樣 怎么样 怎麼 怎么 怎樣 怎样 是否 可否 能否 可不可以 能不能 是不是 有沒有 有没有 可以嗎
可以吗 哪些 哪個 哪个 哪裡 哪里 哪位 何時 何时 何種 何种 多少 多久 幾 几 誰 谁 嗎 吗 呢 的 了 啊 吧
"""

# Said in questions about a text, not by the text: dropped from English questions only.
QUESTION_WORDS: frozenset[str] = frozenset(_QUESTION.split())
# After "how" these ask for a measure; elsewhere ("long service leave") they are content.
HOW_WORDS: frozenset[str] = frozenset(_HOW.split())
# Stop words that hold a phrase together (right *to* erasure) and so stay in a question's bigrams.
LINKING_WORDS: frozenset[str] = frozenset(_LINKING.split())
# Cut out of questions before n-grams are made; longest first.
CHINESE_QUESTION_PHRASES: tuple[str, ...] = tuple(
    sorted(_CHINESE_QUESTION.split(), key=len, reverse=True)
)
