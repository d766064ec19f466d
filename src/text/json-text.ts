/** Reads JSON texts without parsing them: they may be too long, too deep, truncated or malformed. All functions take linear time. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
/** Longer strings are read as `undefined`. */
const MAX_STRING = 2048;
/** The maximum number of objects read from an array. */
const MAX_OBJECTS = 4096;

function isOpening(unit: number): boolean {
  return unit === OPENING_BRACE || unit === OPENING_BRACKET;
}

function isClosing(unit: number): boolean {
  return unit === 0x7d || unit === 0x5d;
}

/** Returns the index of the closing quotation mark of the string at `start`, or -1 if the text ends before it. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}

/** Returns whether arrays and objects nest more than `maxDepth` levels deep. */
export function isDeeper(text: string, maxDepth: number): boolean {
  for (let at = 0, depth = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (isOpening(unit)) {
      if (++depth > maxDepth) return true;
    } else if (isClosing(unit)) depth--;
  }
  return false;
}

/** Members of an object by name: strings, numbers and `null` with their values, all others `undefined`. */
export type Scalars = { readonly [name: string]: string | number | null | undefined };

/**
 * Reads the named members of the outermost object, or with `level` 2 of each object in the outermost array (at most 4096), up to
 * the end of a truncated text.
 */
export function scalarMembers(text: string, names: ReadonlySet<string>, level: 1 | 2 = 1): readonly Scalars[] {
  const objects: Record<string, string | number | null | undefined>[] = [];
  for (const member of membersOf(text, level)) {
    if (member === null) {
      if (objects.length === MAX_OBJECTS) break;
      objects.push(Object.create(null));
    } else if (names.has(member.name) && objects.length > 0)
      objects.at(-1)![member.name] = scalarAt(text, member.value);
  }
  return objects;
}

/**
 * Returns the index of the value of a member of the outermost object; that of the last one if the name is repeated, which is the one that
 * `JSON.parse` returns.
 *
 * @returns -1 if there is none
 */
export function valueOfMember(text: string, name: string): number {
  let value = -1;
  for (const member of membersOf(text, 1)) if (member?.name === name) value = skipSpace(text, member.value);
  return value;
}

/** Walks through the objects at a level of nesting: yields `null` at the beginning of each, then its members with the indices after the colon. */
function* membersOf(
  text: string,
  level: number,
): Generator<{ readonly name: string; readonly value: number } | null, void, undefined> {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isOpening(unit)) {
      if (++depth === level && unit === OPENING_BRACE) yield null;
    } else if (isClosing(unit)) depth--;
    else if (unit === QUOTE) {
      const end = endOfString(text, at);
      if (end === -1) return;
      const colon = depth === level ? skipSpace(text, end + 1) : -1;
      const name = text[colon] === ':' ? stringAt(text, at, end) : undefined;
      if (name !== undefined) yield { name, value: colon + 1 };
      at = end;
    }
  }
}

/** Returns the index of the first character at or after `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function scalarAt(text: string, from: number): string | number | null | undefined {
  const start = skipSpace(text, from);
  if (text.charCodeAt(start) === QUOTE) return stringAt(text, start, endOfString(text, start));
  // A number at the end of the text may be truncated.
  const [literal] = /^(?:null|-?[0-9][0-9.eE+-]*)(?=[\s,}])/.exec(text.slice(start, start + 400)) ?? [];
  return literal === undefined ? undefined : parsed<number | null>(literal);
}

function stringAt(text: string, start: number, end: number): string | undefined {
  return end === -1 || end - start >= MAX_STRING ? undefined : parsed<string>(text.slice(start, end + 1));
}

function parsed<T>(token: string): T | undefined {
  try {
    return JSON.parse(token) as T;
  } catch {
    return undefined;
  }
}
