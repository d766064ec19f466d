"""An adapter for Python 3: reads requests from stdin, one JSON document a line, asks a parser, and answers each with a line.

    npx pegwire conformance aacp --target 'python3 python_adapter.py'

To test your own parser, put it in the place of `read_packet`, and say in `answer_to` what it says.
"""

import json
import re
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal

# ---- The parser under test: a small reader and printer of strict AACP packets. Yours goes here. ----------------------

BLANKS = " \t\r\n"
FIRST_KEYS = ["return", "p", "aacp", "res", "period", "filter", "fields", "fmt"]


class Refused(Exception):
    """What the reader raises at a text that is no packet. `offset` counts characters, as Python's strings do."""

    def __init__(self, code, offset):
        super().__init__(f"{code} at {offset}")
        self.code = code
        self.offset = offset


def read_packet(text):
    if text == "":
        raise Refused("empty-packet", 0)
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
        raise Refused(f"missing-{what}", start)
    refuse_first(slot, start, r"^[^A-Z]|[^A-Z0-9_-]", f"bad-{what}")
    return slot


def read_field(slot, start):
    if slot == "":
        raise Refused("empty-field", start)
    if slot[0] in BLANKS:
        raise Refused("whitespace", start)
    key, colon, value = slot.partition(":")
    if colon == "":
        raise Refused("malformed-field", start)
    if key == "":
        raise Refused("empty-key", start)
    refuse_first(key, start, r"^[^a-z]|[^a-z0-9_]", "bad-key")
    value_start = start + len(key) + 1
    if value[:1] in list(BLANKS):
        raise Refused("whitespace", value_start)
    trimmed = value.rstrip(BLANKS)
    bad = re.search(r"[\x00-\x1f\x7f]", trimmed)
    if bad:
        raise Refused("control-character", value_start + bad.start())
    if trimmed != value:
        raise Refused("whitespace", value_start + len(trimmed))
    return {"key": key, "value": value}


def refuse_first(token, start, pattern, code):
    """Refuses a token at its first character that the pattern matches; blanks have a code of their own."""
    bad = re.search(pattern, token)
    if bad:
        raise Refused("whitespace" if bad.group() in BLANKS else code, start + bad.start())


def print_packet(packet):
    """The canonical text."""
    fields = sorted(packet["fields"], key=lambda field: rank(field["key"]))
    pairs = [f"{field['key']}:{canonical_value(**field)}" for field in fields]
    return "|".join([packet["task"], packet["domain"], *pairs])


def rank(key):
    return (FIRST_KEYS.index(key), "") if key in FIRST_KEYS else (len(FIRST_KEYS), key)


def canonical_value(key, value):
    # [0-9] and \Z: in Python, \d matches digits of all scripts, and $ matches before a line end, too.
    if key != "amt" or not re.match(r"-?[0-9]+(\.[0-9]+)?\Z", value):
        return value
    exact = Context(prec=len(value) + 6)
    text = format(Decimal(value).quantize(Decimal("0.000001"), ROUND_HALF_EVEN, exact), "f").rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# ---- The adapter ------------------------------------------------------------------------------------------------------


def answer_to(request):
    """What is answered to one text. All members but "ok" may be left out: what is not there is not judged."""
    text = request["input"]
    # request.get("dialect") is "strict" or "tolerant" (for ACCP: "lenient"); a parser that knows only strict may ignore it.
    try:
        packet = read_packet(text)
    except Refused as refused:
        # Only what your parser raises on purpose. Anything else should end the adapter: it is a crash, and reported as one.
        return {"ok": False, "code": refused.code, "offset": utf16_offset(text, refused.offset), "message": str(refused)}
    return {"ok": True, "ast": packet, "canonical": print_packet(packet)}


def utf16_offset(text, offset):
    """Python counts characters, the protocol UTF-16 code units: a character beyond U+FFFF is one here and two there."""
    return offset + sum(character > "\uffff" for character in text[:offset])


def main():
    # Requests are ASCII, and json.dumps writes ASCII by default, lone surrogates included: the encoding of the console
    # does not matter. allow_nan=False raises where Python would write NaN or Infinity, which are no JSON.
    for line in sys.stdin:
        answer = json.dumps(answer_to(json.loads(line)), allow_nan=False)
        # flush: into a pipe, Python otherwise keeps some kilobytes of answers back, and we both wait for ever.
        print(answer, flush=True)


if __name__ == "__main__":
    main()
