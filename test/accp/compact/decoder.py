"""Decodes compact frames (profile compact1) as src/accp/compact/README.md describes them: a file of conformance cases on the standard input.
Prints one line of JSON for each step: the plain frame or the error, and the tables after it."""
import json, re, sys
from datetime import datetime, timedelta

MAX_LENGTH, MAX_DEPTH, MAX_ITEMS, MAX_DIGITS = 1_048_576, 5, 100_000, 1000
INVALID, UNKNOWN = {"code": "E1001", "want": "tables"}, {"code": "E2001", "want": "tables"}
class Rejected(Exception): pass
def require(condition, error=INVALID):
    if not condition: raise Rejected(error)

# ---- The strict grammar. Values are pairs of kind and content: string, literal (number or boolean), null, ref, array, map.
HEAD = re.compile(r"@([A-Za-z0-9_-]+)>([A-Za-z]+):([A-Za-z0-9_]+)\{")
KEY = re.compile(r"([A-Za-z0-9_]+):")
REF = re.compile(r"\$([A-Za-z0-9_.]+)")
TEXT = re.compile(r"(?:[!-#%-+\--9;-=?A-Z^-z]|\\[@>:{}\[\]|$,~\\])+")
LITERAL = re.compile(r"true|false|-?[0-9]+(\.[0-9]+)?")

class Parser:
    def __init__(self, text):
        self.text, self.at, self.items = text, 0, 0
    def check(self, condition): require(condition, {"code": "E1001"})
    def frame(self):
        self.check(len(self.text) <= MAX_LENGTH)
        header = self.match(HEAD).groups()
        payload = [] if self.take("}") else self.params("|", "}", 0)
        metadata = self.params(",", "]", 0) if self.take("[") else []
        self.check(self.at == len(self.text))
        return *header, payload, dict(metadata)
    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        self.check(found)
        self.at = found.end()
        return found
    def take(self, character):
        taken = self.text.startswith(character, self.at)
        self.at += taken
        return taken
    def list(self, separator, end, item):
        items = [item()]
        while not self.take(end):
            self.check(self.take(separator))
            items.append(item())
        self.items += len(items)
        self.check(self.items <= MAX_ITEMS)
        return items
    def params(self, separator, end, depth):
        params = self.list(separator, end, lambda: (self.match(KEY)[1], self.value(depth)))
        self.check(len(dict(params)) == len(params))
        return params
    def value(self, depth):
        for begin, end, kind in (("[", "]", "array"), ("{", "}", "map")):
            if self.take(begin):
                self.check(depth < MAX_DEPTH)
                if kind == "map":
                    return kind, [] if self.take(end) else self.params(",", end, depth + 1)
                return kind, [] if self.take(end) else self.list(",", end, lambda: self.value(depth + 1))
        if self.take("~"): return "null", "~"
        if self.text.startswith("$", self.at): return "ref", self.match(REF)[1]
        lexeme = self.match(TEXT)[0]
        if not LITERAL.fullmatch(lexeme): return "string", re.sub(r"\\(.)", r"\1", lexeme)
        self.check(sum(map(str.isdigit, lexeme)) <= MAX_DIGITS)
        return "literal", lexeme

def printed(value):
    kind, content = value
    if kind == "string":
        return re.sub(r"[@>:{}\[\]|$,~\\]", r"\\\g<0>", content)
    if kind == "array":
        return "[" + ",".join(map(printed, content)) + "]"
    if kind == "map":
        return "{" + ",".join(key + ":" + printed(one) for key, one in sorted(content)) + "}"
    return "$" + content if kind == "ref" else content

# ---- Tables. A shape is the text that has its weight: operation|schema|key|key
class Table:
    def __init__(self, static, entries, weight):
        self.static, self.max, self.bound = static, entries, weight
        self.learned, self.known, self.count, self.weight = {}, set(static), 0, 0
    def get(self, number):
        entry = self.static[number] if number < len(self.static) else self.learned.get(number)
        require(entry is not None, UNKNOWN)
        return entry
    def learn(self, entry):
        if entry in self.known or len(entry) > self.bound:
            return
        while len(self.learned) == self.max or self.weight + len(entry) > self.bound:
            oldest = self.learned.pop(next(iter(self.learned)))
            self.weight -= len(oldest)
            self.known.remove(oldest)
        self.learned[len(self.static) + self.count % self.max] = entry
        self.known.add(entry)
        self.count, self.weight = self.count + 1, self.weight + len(entry)
def shape_text(operation, schema, keys): return f"{operation or ''}|{schema or ''}|{'|'.join(keys)}"
def pairs(text): return dict(zip(text.split()[::2], text.split()[1::2]))

STANDARD = pairs("data d findings f next_action nx source src destination dst query q format fmt priority pri error err version v"
                 " timestamp ts context ctx target who reason why")
PROFILES = {name: {"code": code, "fields": fields.split(), "operations": operations.split(), "short": pairs(short)} for
            name, code, fields, operations, short in (
    ("chat", "CH", "role content turn lang reply_to", "chat", ""),
    ("error", "ER", "code message retryable", "error", "message msg retryable retry"),
    ("stream_chunk", "ST", "chunk_index total_chunks data is_final", "", "chunk_index idx total_chunks tot is_final done"),
    ("task_assignment", "TA", "assignee task priority deadline deps", "", "assignee asgn deadline dead status stat progress prog"),
    ("tool_call", "TC", "tool_name arguments result status error_code", "tool", "tool_name tool arguments args result res status stat"),
    ("transaction", "TX", "transaction_id amount currency account reference status retryable", "transaction",
     "transaction_id txn amount amt account acc status stat"))}
SHORT = {profile["code"]: {**STANDARD, **profile["short"]} for profile in PROFILES.values()}
def static_entries(registry):
    own, compact = registry.get("schemas", {}), registry.get("compact", {})
    schemas = [PROFILES[name] for name in sorted(PROFILES) if name not in own] + [own[name] for name in sorted(own)]
    listed = [(operation, schema["code"], schema["fields"]) for schema in schemas for operation in (None, *schema.get("operations", []))]
    listed += [(shape.get("operation"), shape.get("schema"), shape["fields"]) for shape in compact.get("shapes", [])]
    shapes = ["state||v|delta"]
    for operation, schema, fields in listed:
        keys = dict.fromkeys(SHORT.get(schema, STANDARD).get(field, field) for field in fields)
        keys = [key for key in keys if not schema or key != "schema"]
        shapes.append(shape_text(operation, schema, keys if operation or schema else sorted(fields, key=lambda key: re.sub("^(_*[0-9])", r"_\1", key))))
    return list(dict.fromkeys(shapes)), list(dict.fromkeys(compact.get("strings", [])))

# ---- Spellings
def number_in(text): return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,8}", text) else None
def read_key(written):
    require(not written[0].isdigit())
    return written[1:] if re.match(r"_+[0-9]", written) else written

DATE_TIME = r"([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})(?:([0-9]{2})(\.[0-9]{1,9})?)?(?:(Z)|([+-][0-9]{2})([0-9]{2}))?"
def date_time(found):
    year, month, day, hour, minute, second, fraction, utc, zone, rest = found.groups("")
    return f"{year}-{month}-{day}T{hour}:{minute}" + (second and f":{second}{fraction}") + utc + (zone and f"{zone}:{rest}")
MARKED = (
    (r"-|#.*", lambda found: found[0]), (r"//.*", lambda found: "https:" + found[0]),
    (r"0|[1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]", lambda found: f"{int(found[0]) // 60:02}:{int(found[0]) % 60:02}"),
    (r"[0-9]{5}", lambda found: (datetime(1900, 1, 1) + timedelta(int(found[0]))).isoformat()[:10]),
    (r"([0-9]{2})([0-9]{2})([0-9]{2})", lambda found: ":".join(found.groups())), (DATE_TIME, date_time),
    (r"([0-9]{9})(\.[0-9]{1,9})?", lambda found: f"{(datetime(2020, 1, 1) + timedelta(seconds=int(found[1]))).isoformat()}{found[2] or ''}Z"))
def read_string(written):
    require(written != "-")
    if not written.startswith("#"): return written
    found, plain = next(((found, plain) for form, plain in MARKED if (found := re.fullmatch(form, written[1:]))), (None, None))
    require(found)
    return plain(found)

# ---- One frame
class Reading:
    def __init__(self, shapes, strings):
        self.shapes, self.strings, self.length = shapes, strings, 0
    def body(self, operation, payload):
        listed = number_in(payload[0][0]) if payload else None
        (kind, items), others = (payload[0][1], payload[1:]) if listed is not None else (("array", []), payload)
        is_bound = number_in(operation) is not None
        if is_bound:
            operation, schema, keys = self.shape(number_in(operation))
            require(operation)
        elif listed is not None:
            require(listed > 0)
            bound, schema, keys = self.shape(listed - 1)
            require(schema and not bound)
        else:
            return operation, self.named(operation, payload)
        if others or not is_bound:
            present = [key for key, item in zip(keys, items) if item != ("string", "-")] + [read_key(key) for key, _ in others]
            require(len(set(present)) == len(present) and not (schema and "schema" in present))
            self.shapes.learn(shape_text(operation, schema, present))
        params = self.members(keys, (kind, items)) + [(read_key(key), self.value(value)) for key, value in others]
        return operation, params + [("schema", ("string", schema))] * bool(schema)
    def named(self, operation, payload):
        key, (kind, schema) = payload[-1] if payload else ("", ("", ""))
        last = payload[-1:] if key == "schema" and kind == "string" and re.fullmatch(r"[A-Za-z0-9_]+", schema) else []
        params = payload[: len(payload) - len(last)]
        self.shapes.learn(shape_text(operation, last and schema, [read_key(key) for key, _ in params]))
        return [(read_key(key), self.value(value)) for key, value in params] + last
    def members(self, keys, value):
        kind, items = value
        require(kind == "array" and len(items) <= len(keys))
        return [(self.counted(key), self.value(item)) for key, item in zip(keys, items) if item != ("string", "-")]
    def counted(self, text):
        self.length += len(text) + 1
        require(self.length <= MAX_LENGTH)
        return text
    def value(self, value):
        kind, content = value
        if kind == "string":
            text = read_string(content)
            if 4 <= len(text) <= 96:
                self.strings.learn(text)
            return kind, text
        if kind == "ref":
            if number_in(content) is not None:
                return "string", self.counted(self.strings.get(number_in(content)))
            return kind, content[1:] if re.fullmatch(r"\.+[0-9]+", content) else content
        if kind == "array": return kind, [self.value(item) for item in content]
        if kind != "map": return value
        if len(content) == 1 and number_in(content[0][0]) is not None:
            return self.numbered(number_in(content[0][0]), content[0][1])
        if len(content) > 1:
            self.shapes.learn(shape_text(None, None, [read_key(key) for key, _ in content]))
        return kind, [(read_key(key), self.value(one)) for key, one in content]
    def numbered(self, number, value):
        kind, rows = value
        require(kind == "array")
        if number == 0:
            kind, keys = rows[0] if rows else ("", [])
            require(kind == "array" and keys)
            require(all(kind == "string" and re.fullmatch(r"[A-Za-z0-9_]+", key) for kind, key in keys) and len(set(keys)) == len(keys))
            keys, rows = [key for _, key in keys], rows[1:]
            self.shapes.learn(shape_text(None, None, keys))
        else:
            operation, schema, keys = self.shape((number - 1) // 2)
            require(not operation and not schema)
        if number % 2 == 1: return "map", self.members(keys, value)
        return "array", [("map", self.members(keys, row)) for row in rows]
    def shape(self, number):
        operation, schema, keys = self.shapes.get(number).split("|", 2)
        return operation, schema, keys.split("|") if keys else []

# ---- One session
CHANGE = r"off|(new|reg(\.[0-9a-f]{6,64})?)(\.(0|[1-9][0-9]{0,2}))?"
class Owner:
    def __init__(self, agent, static=([], []), count=0, broken=True, is_common=True):
        self.agents, self.count, self.broken, self.is_common = [agent], count, broken, is_common
        self.shapes, self.strings = Table(static[0], 128, 8192), Table(static[1], 512, 16384)
    def listed(self, shared):
        return {"agents": self.agents, **({"count": self.count} if shared else {}), "shapes": self.shapes.learned, "strings": self.strings.learned}
class Receiver:
    def __init__(self, sequence, registry, hash):
        self.shared, self.registry, self.hash, self.owners = sequence == "session", registry, hash, {}
    def read(self, text):
        agent, intent, operation, payload, metadata = Parser(text).frame()
        table = metadata["tbl"][1] if "tbl" in metadata else ""
        if number_in(agent) is not None and table != "off" and not always_plain(intent, operation, payload):
            agent = self.agent_of(agent, table, table or any(number_in(name) is not None for name in (operation, (payload or [["x"]])[0][0])))
        if not always_plain(intent, operation, payload):
            if self.shared:
                self.check_count(agent, operation, payload, table)
            if table: self.announce(agent, table)
            owner = self.owner_of(agent)
            if owner is not None:
                require(not owner.broken, UNKNOWN)
                owner.broken = True  # unless all of it can be read
                operation, payload = Reading(owner.shapes, owner.strings).body(operation, payload)
                require(not always_plain(intent, operation, payload))
                owner.broken, owner.count = False, (owner.count + 1) % 1000
        return f"@{agent}>{intent}:{operation}{{{'|'.join(key + ':' + printed(value) for key, value in payload)}}}"
    def agent_of(self, name, table, is_compact):
        names, number = self.registry.get("compact", {}).get("agents", []), number_in(name)
        named = dict(enumerate(names)).get(number)
        if table[:3] in ("new", "reg", "as."): return named if named and table[:3] != "new" and self.shared else name
        if self.owner_of(name) or not is_compact: return name
        if named and self.owner_of(named) and not self.owner_of(named).is_common: return named
        numbered = [enumerate(owner.agents, 0 if owner.is_common else len(names)) for owner in self.owners.values()]
        sharing = [agent for agents in numbered for at, agent in agents if at == number]
        require(not self.shared or len(sharing) < 2, {"code": "E3003", "want": "plain"})
        return sharing[0] if self.shared and sharing else name
    def owner_of(self, agent):
        return next((owner for owner in self.owners.values() if agent in owner.agents), None)
    def check_count(self, agent, operation, payload, table):
        if re.fullmatch(CHANGE, table): return
        parts = re.fullmatch(r"(?:as\.([A-Za-z0-9_-]+))?(?:(?:^|\.)(0|[1-9][0-9]{0,2}))?", table)
        first, count = parts.groups() if parts else (None, None)
        owner = self.owners.get(first) if first else self.owner_of(agent)
        if number_in(operation) is not None and payload and number_in(payload[0][0]) is not None:
            count = payload[0][0]
        require((None if count is None else number_in(count)) == (owner and owner.count), {"code": "E3003"})
    def announce(self, agent, table):
        if number_in(table) is not None: return
        before, owner, error = self.owner_of(agent), None, None
        word, _, rest = table.partition(".")
        if word == "as":
            owner = self.owners.get(rest.partition(".")[0]) if self.shared else None
            error = None if owner else UNKNOWN
        elif not re.fullmatch(CHANGE, table):
            error = INVALID
        elif word == "reg" and not self.hash.startswith(rest.partition(".")[0]):
            error = {"code": "E2001", "want": "plain"}
        elif word != "off":
            count = re.search(r"(?:^|\.)([0-9]{1,3})$", rest)
            owner = Owner(agent, static_entries({} if word == "new" else self.registry), int(count.group(1)) if count else 0, False, word == "new")
        if error is not None:  # the tables are broken for all agents that use them
            (owner := before or Owner(agent)).broken = True
        elif before not in (None, owner):
            del self.owners[before.agents[0]]
        if owner is not None:
            self.owners[owner.agents[0]] = owner
            owner.agents += [agent] if agent not in owner.agents else []
        require(error is None, error)
def always_plain(intent, operation, payload):
    named = f"{intent}:{operation}" in ("sync:registry", "sync:resync", "fail:error")
    return named or intent in ("ping", "pong") or payload[-1:] == [("schema", ("string", "ER"))]

for case in json.load(sys.stdin)["cases"]:
    receiver = Receiver(case["sequence"], case.get("registry", {}), case.get("hash", "none"))
    for step in case["steps"]:
        try:
            result = {"plain": receiver.read(step["frame"])}
        except Rejected as rejected:
            result = {"error": rejected.args[0]}
        tables = {agent: None if owner.broken else owner.listed(receiver.shared) for agent, owner in receiver.owners.items()}
        print(json.dumps({**result, "tables": tables}))
