"""The instructors' side: nothing of it is ever released."""

import sys
from typing import Any

# jsonschema, by which nbformat checks notebooks, would build 39 parsers at every start, which takes
# two seconds, for a form of address that no notebook has. It does without where they are missing.
_loaded: dict[str, Any] = sys.modules
_loaded.setdefault("rfc3987_syntax", None)
