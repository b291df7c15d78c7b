"""Everything that the command line says, in German: English texts and their translations, by what they are about.

A hole `{name!t}` is filled with a text that is itself in here.
"""

from __future__ import annotations

from collections.abc import Mapping

from sayso.cli.german.errors import ERRORS
from sayso.cli.german.findings import FINDINGS
from sayso.cli.german.help import HELP
from sayso.cli.german.talk import TALK

GERMAN: Mapping[str, str] = {**HELP, **FINDINGS, **ERRORS, **TALK}
