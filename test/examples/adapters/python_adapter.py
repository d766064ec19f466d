"""An adapter for Python 3: reads requests from stdin, one JSON document per line, and answers each with a line on stdout.

    npx pegwire conformance aacp --target 'python3 python_adapter.py'

To test your own parser, replace `read_packet` with it, and convert its result in `answer_to`.
"""

import json
import re
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal

# ---- The parser under test: a small reader and printer of strict AACP packets. Replace it. ---------------------------

BLANKS = " \t\r\n"
FIRST_KEYS = ["return", "p", "aacp", "res", "period", "filter", "fields", "fmt"]


class Rejected(Exception):
    """Raised if a text is not a packet. `offset` counts characters, as Python strings do."""

    def __init__(self, code, offset):
        super().__init__(f"{code} at {offset}")
        self.code = code
        self.offset = offset


def read_packet(text):
    if text == "":
        raise Rejected("empty-packet", 0)
    slots = []
    start = 0
    for slot in text.split("|"):
        slots.append((slot, start))
        start += len(slot) + 1
    if len(slots) == 1:
        slots.append(("", len(text)))
    return {
        "kind": "packet",
        "task": read_name(*slots[0], "task"),
        "domain": read_name(*slots[1], "dom"),
        "fields": [read_field(*slot) for slot in slots[2:]],
    }


def read_name(slot, start, what):
    if slot == "":
        raise Rejected(f"missing-{what}", start)
    reject_first(slot, start, r"^[^A-Z]|[^A-Z0-9_-]", f"bad-{what}")
    return slot


def read_field(slot, start):
    if slot == "":
        raise Rejected("empty-field", start)
    if slot[0] in BLANKS:
        raise Rejected("whitespace", start)
    key, colon, value = slot.partition(":")
    if colon == "":
        raise Rejected("malformed-field", start)
    if key == "":
        raise Rejected("empty-key", start)
    reject_first(key, start, r"^[^a-z]|[^a-z0-9_]", "bad-key")
    value_start = start + len(key) + 1
    if value[:1] in list(BLANKS):
        raise Rejected("whitespace", value_start)
    trimmed = value.rstrip(BLANKS)
    bad = re.search(r"[\x00-\x1f\x7f]", trimmed)
    if bad:
        raise Rejected("control-character", value_start + bad.start())
    if trimmed != value:
        raise Rejected("whitespace", value_start + len(trimmed))
    return {"key": key, "value": value}


def reject_first(token, start, pattern, code):
    """Rejects a token at its first character that the pattern matches; blanks have a code of their own."""
    bad = re.search(pattern, token)
    if bad:
        raise Rejected("whitespace" if bad.group() in BLANKS else code, start + bad.start())


def print_packet(packet):
    """Prints the canonical text of a packet."""
    fields = sorted(packet["fields"], key=lambda field: rank(field["key"]))
    pairs = [f"{field['key']}:{canonical_value(**field)}" for field in fields]
    return "|".join([packet["task"], packet["domain"], *pairs])


def rank(key):
    return (FIRST_KEYS.index(key), "") if key in FIRST_KEYS else (len(FIRST_KEYS), key)


def canonical_value(key, value):
    # [0-9] and \Z: in Python, \d matches digits of all scripts, and $ also matches before a line end.
    if key != "amt" or not re.match(r"-?[0-9]+(\.[0-9]+)?\Z", value):
        return value
    exact = Context(prec=len(value) + 6)
    text = format(Decimal(value).quantize(Decimal("0.000001"), ROUND_HALF_EVEN, exact), "f").rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# ---- The adapter ------------------------------------------------------------------------------------------------------


def answer_to(request):
    """Builds the answer to one request. All members except "ok" may be absent; absent members are not compared."""
    text = request["input"]
    # request.get("dialect") is "strict" or "tolerant" (for ACCP: "lenient"); a parser that supports only strict may ignore it.
    try:
        packet = read_packet(text)
    except Rejected as rejected:
        # Only errors that your parser raises on purpose. Any other error should end the adapter: it is a crash, and reported as one.
        return {"ok": False, "code": rejected.code, "offset": utf16_offset(text, rejected.offset), "message": str(rejected)}
    return {"ok": True, "ast": packet, "canonical": print_packet(packet)}


def utf16_offset(text, offset):
    """Converts an offset in characters to UTF-16 code units, in which a character beyond U+FFFF counts twice."""
    return offset + sum(character > "\uffff" for character in text[:offset])


def main():
    # Requests are ASCII, and json.dumps writes ASCII by default, lone surrogates included: the encoding of the console
    # does not matter. allow_nan=False raises an error where Python would write NaN or Infinity, which are not JSON.
    for line in sys.stdin:
        answer = json.dumps(answer_to(json.loads(line)), allow_nan=False)
        # flush: without it, Python buffers output to a pipe, and both programs wait forever.
        print(answer, flush=True)


if __name__ == "__main__":
    main()
