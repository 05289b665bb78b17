"""English function words: those that say little by themselves.

Asked to finish a sentence with one word, a model likes to answer with "the" or "him". `Exclude(stop_words=True)` takes
such answers out. The list has the articles, pronouns, prepositions, conjunctions and auxiliary verbs, and the commonest
adverbs of time, place and degree.
"""

from __future__ import annotations

_LIST = """
a an the this that these those each every either neither some any no such both all another other
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one who whom whose which what
about above across after against along among around at before behind below beneath beside between beyond by
down during except for from in inside into like near of off on onto out outside over past since through
throughout till to toward towards under until up upon with within without
and but or nor so yet if because although though unless while whereas whether than as when where why how
am is are was were be been being have has had having do does did doing done will would shall should can could
may might must ought
not very too also just only even still again ever never now then here there once already quite rather almost
more most much many few less own same
"""

STOP_WORDS: tuple[str, ...] = tuple(_LIST.split())
