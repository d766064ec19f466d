/** Instructions that are written for programs: `fetch res=salaries format=json`, `{"task":"fetch","res":"salaries"}`. */

interface Member {
  readonly key: string;
  readonly value: string;
}

/** `key=value`, neither with white space nor marks that quote. */
const PAIR = /^([A-Za-z][A-Za-z0-9_]{0,40})=([^\s"'=,;{}[\]]+(?:,[^\s"'=,;{}[\]]+)*)[,;]?$/;

/** Keys of which the value says what is to be done. */
const ACTION_KEYS: ReadonlySet<string> = new Set(['task', 'action', 'op', 'operation', 'command', 'verb', 'do']);

/** Keys of which the value is what it is done to. */
const OBJECT_KEYS: ReadonlySet<string> = new Set(['resource', 'res', 'object', 'item', 'entity', 'target', 'what']);

/** Keys that say how their values stand to the rest. */
const JOINTS: ReadonlyMap<string, string> = new Map<string, string>([
  ...(['format', 'fmt', 'output'] as const).map((key) => [key, 'as'] as const),
  ...(['reason', 'cause', 'because'] as const).map((key) => [key, 'because of'] as const),
  ...(['level', 'stage', 'step'] as const).map((key) => [key, `to ${key}`] as const),
  ...(['recipient', 'recipients', 'assignee', 'assign_to', 'send_to', 'destination'] as const).map(
    (key) => [key, 'to'] as const,
  ),
  ...(['source', 'sender'] as const).map((key) => [key, 'from'] as const),
  ...['from', 'to', 'by', 'for', 'before', 'after', 'since', 'until'].map((key) => [key, key] as const),
]);

/** Values that switch something on or off, or name no thing: with another one, the instruction is another. */
const SWITCHES = /^(?:true|false|yes|no|on|off|none|null|all|any|only|not|\*)$/i;

/** Words of a programmer: letters that underscores join. */
const JOINED_WORDS = /^[A-Za-z]+(?:_[A-Za-z]+)+$/;

/** The longest text that is looked at, in UTF-16 code units. */
const MOST = 4_000;

/**
 * The instruction as a sentence, where it is a flat JSON object, or words and at least two pairs `key=value`; any other as it
 * stands.
 */
export function asSentence(instruction: string): string {
  if (instruction.length > MOST || !/[={]/.test(instruction)) return instruction;
  return fromObject(instruction) ?? fromPairs(instruction) ?? instruction;
}

function fromObject(instruction: string): string | null {
  const text = instruction.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  const members: Member[] = [];
  for (const [key, value] of Object.entries(given as object)) {
    const told = textOf(value);
    if (told === null || !/^[A-Za-z][A-Za-z0-9_]*$/.test(key)) return null;
    members.push({ key, value: told });
  }
  // A member that comes twice says two things, and the reader of JSON gives one of them.
  return members.length < 2 || (text.match(/"\s*:/g)?.length ?? 0) !== members.length ? null : sentenceOf('', members);
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.trim() === '' || /[\n"{}[\]]/.test(value)) return null;
  return value;
}

function fromPairs(instruction: string): string | null {
  const tokens = instruction.trim().split(/\s+/);
  const first = tokens.findIndex((token) => PAIR.test(token));
  const pairs = tokens.slice(first).map((token) => PAIR.exec(token));
  // Words behind a pair may belong to its value.
  if (first < 0 || pairs.length < 2 || first > 4 || !tokens.slice(0, first).every((token) => /^[\w-]+$/.test(token))) {
    return null;
  }
  const members: Member[] = [];
  for (const pair of pairs) {
    if (pair === null) return null;
    members.push({ key: pair[1]!, value: pair[2]! });
  }
  return sentenceOf(tokens.slice(0, first).map(spaced).join(' '), members);
}

function sentenceOf(words: string, members: readonly Member[]): string {
  const of = (keys: ReadonlySet<string>): readonly Member[] => members.filter(({ key }) => keys.has(key.toLowerCase()));
  const [action, ...actions] = of(ACTION_KEYS);
  const head = words === '' && action !== undefined ? [action] : [];
  const objects = actions.length > 0 ? [] : of(OBJECT_KEYS).slice(0, 1);
  const rest = members.filter((member) => !head.includes(member) && !objects.includes(member));
  const begin = [words, ...head.map(told), ...objects.map(told)].filter(Boolean).join(' ');
  const end = rest.map(phraseOf).join(', ');
  // A verb alone has its object behind it.
  const isVerb = begin !== '' && !begin.includes(' ');
  return [begin, end].filter(Boolean).join(isVerb ? ' ' : ', ');
}

function told({ value }: Member): string {
  return spaced(value);
}

function phraseOf({ key, value }: Member): string {
  const joint = JOINTS.get(key.toLowerCase()) ?? spaced(key);
  return `${joint} ${SWITCHES.test(value) ? `"${value}"` : value.split(',').map(spaced).join(', ')}`;
}

function spaced(word: string): string {
  return JOINED_WORDS.test(word) ? word.replaceAll('_', ' ') : word;
}
