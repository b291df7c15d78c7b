"""Who has to agree to a permission, in German."""

from __future__ import annotations

from sayso.permissions import quorum_words

TEXTS = {
    quorum_words.MUST_AGREE: "Zustimmen muss: {who}. Das sagt {place}, für {rule}.",
    quorum_words.ANYONE: "irgendwer",
    quorum_words.PEOPLE: "{need} Personen",
    quorum_words.ONE_OF: "eine Person von {people}",
    quorum_words.SOME_OF: "{need} von {people}",
    quorum_words.NOT_THEIRS: "Das Ja von {whose} zählt nicht: Es ist der eigene Agent.",
    quorum_words.AGREED: "Zugestimmt: {people}.",
    quorum_words.NOBODY_YET: "Zugestimmt hat noch niemand.",
    quorum_words.ENOUGH: "Das reicht.",
    quorum_words.AWAITED: "Es fehlen noch: {count}.",
    quorum_words.AWAITED_OF: "Es fehlen noch: {count} von {people}.",
    quorum_words.LATER: "Ab {time} auch: {people}.",
    quorum_words.UNDECIDED: "Um {time} noch nicht entschieden, ist es ein Nein.",
    quorum_words.CHANGED: (
        "{person} hat geändert, was der Agent wollte. Wer vorher zugestimmt hat, muss noch einmal hinsehen."
    ),
    quorum_words.NOBODY_KNOWS: (
        "Niemandes Ja zählt: Niemand weiß, wessen Agent das ist, denn sein Token hat keinen Benutzer."
    ),
    quorum_words.ONE_PERSON: (
        "Hier gibt es eine Person ({people}), also kann das nie erlaubt werden. Lehnen Sie es ab, oder "
        "ändern Sie die Regel."
    ),
    quorum_words.FEW_PEOPLE: (
        "Hier gibt es {count} Personen ({people}), also kann das nie erlaubt werden. Lehnen Sie es ab, "
        "oder ändern Sie die Regel."
    ),
    quorum_words.FEW_NAMES: (
        "Es sind zu wenige Personen genannt, also kann das nie erlaubt werden. Lehnen Sie es ab, oder "
        "ändern Sie die Regel."
    ),
}
