"""An adapter that reads packets like the reference Python SDK of AACP (package `aacp`, release 1.4.0).

    npx pegwire fuzz aacp --target 'python3 test/fuzz/foreign/aacp_sdk_adapter.py'
    npx pegwire fuzz aacp --target 'python3 test/fuzz/foreign/aacp_sdk_adapter.py --verdict'

The SDK requires packages and has no parser to call, so this follows its observed behavior: it strips the packet and each slot,
splits fields at the first colon, lower-cases keys, keeps the last of two equal keys, and ignores empty slots and slots without a
colon. By default, the adapter answers with the fields that the SDK's validator checks, and rejects only packets without fields.
With --verdict, it rejects all packets that the validator calls invalid, with its first error.
"""

import json
import sys

TASKS = ["ACK", "BUILD", "CALC", "FETCH", "FLAG", "LOG", "MERGE", "PROC", "REPORT", "RESOLVE", "SEND", "SYNC"]
DOMAINS = ["CS", "FIN", "HR", "IT", "LEGAL", "MKT", "SALES"]


class Packet:
    """A packet before validation."""

    def __init__(self, task, domain, fields):
        self.task = task
        self.domain = domain
        self.fields = fields


def split(text):
    """Returns the packet, or the error message if it cannot be split."""
    if not text.strip():
        return "Empty packet."
    slots = [slot.strip() for slot in text.split("|")]
    if len(slots) < 3:
        return "Packet too short \u2014 minimum: TASK|DOM|...|return:AGENT|p:N|aacp:1.0"
    fields = {}
    for slot in slots[2:]:
        if ":" in slot:
            key, value = slot.split(":", 1)
            fields[key.strip().lower()] = value.strip()
    return Packet(slots[0], slots[1], fields)


def errors_of(packet):
    """Returns the validator's errors, in its words and order. Warnings do not reject a packet."""
    errors = []
    if not packet.task:
        errors.append("Field 0 (TASK) is empty.")
    elif packet.task not in TASKS:
        errors.append(f"Unknown TASK '{packet.task}'. Valid: {', '.join(TASKS)}")
    if not packet.domain:
        errors.append("Field 1 (DOM) is empty.")
    elif packet.domain not in DOMAINS:
        errors.append(f"Unknown DOM '{packet.domain}'. Valid: {', '.join(DOMAINS)}")
    if "return" not in packet.fields:
        errors.append("Missing return: field. Must specify receiving agent.")
    return errors


def answer_to(text, with_verdict):
    packet = split(text)
    if isinstance(packet, str):
        return {"ok": False, "message": packet}
    errors = errors_of(packet) if with_verdict else []
    if errors:
        return {"ok": False, "message": errors[0]}
    fields = [{"key": key, "value": value} for key, value in packet.fields.items()]
    return {"ok": True, "ast": {"kind": "packet", "task": packet.task, "domain": packet.domain, "fields": fields}}


def main():
    with_verdict = "--verdict" in sys.argv[1:]
    for line in sys.stdin:
        # json.dumps writes ASCII, including lone surrogates.
        print(json.dumps(answer_to(json.loads(line)["input"], with_verdict)), flush=True)


if __name__ == "__main__":
    main()
