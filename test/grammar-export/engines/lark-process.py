"""Reads JSON lines: first {"grammar": ...}, then {"input": ...} repeatedly. Answers each with one line."""

import json
import sys

from lark import Lark
from lark.exceptions import LarkError, UnexpectedInput


def answer(record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def main():
    parser = None
    for line in sys.stdin:
        request = json.loads(line)
        if "grammar" in request:
            try:
                parser = Lark(request["grammar"], parser="earley", lexer="dynamic")
                answer({"ok": True})
            except LarkError as error:
                answer({"ok": False, "message": str(error)})
        else:
            try:
                parser.parse(request["input"])
                answer({"ok": True})
            except UnexpectedInput:
                answer({"ok": False})


main()
