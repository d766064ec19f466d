/** Changes that could make a frame of a text that is not one. */
import type { ParseError } from '../../text/errors.js';
import type { Fix } from '../../text/fix.js';
import { quotedShort } from '../../text/visible.js';
import { type FrameToken, readFrameTokens } from './tokens.js';

const DELIMITERS = '@>:{}[]|$,~\\';
const MENTION = /@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?/y;
/** Names to insert where the parser expects one. */
const NAMES: Readonly<Record<string, string>> = {
  'agent id': 'agent',
  intent: 'req',
  operation: 'operation',
  key: 'key',
};

/**
 * Returns the changes at the place of the error that could remove it, the likeliest first; the caller tries each. A frame that exceeds a limit has
 * none, since each would lose content.
 */
export function syntaxFixes(text: string, error: ParseError): readonly Fix[] {
  const { start: at, end } = error.span ?? { start: 0, end: 0 };
  if (error.reason === 'limit') return [];
  if (error.reason === 'duplicate-key') return duplicateFixes(text, at);
  const { tokens, place } = readFrameTokens(text.slice(0, at));
  const found = text.slice(at, end);
  const fixes: Fix[] = [];
  const replace = (title: string, start: number, to: number, by: string): void => {
    fixes.push({ title, span: { start, end: to }, text: by });
  };
  const insert = (title: string, by: string): void => replace(title, at, at, by);

  const literals = error.expected.flatMap((phrase) => /^"(.+)"$/.exec(phrase)?.[1] ?? []);
  const blanks = /^\s+/.exec(text.slice(at))?.[0].length ?? 0;
  // Such as "=" for ":", or one bracket for another. White space within a value stands for itself.
  const others = blanks > 0 ? literals.filter((literal) => ':>'.includes(literal)) : literals;
  if (blanks > 0 || (found !== '' && '=>:;]})'.includes(found)))
    for (const literal of others) replace(`Write ${quotedShort(literal)}`, at, Math.max(end, at + blanks), literal);
  if (blanks > 0) {
    const isOutside = at === 0 || at + blanks === text.length || place.depth === 0 || isAfterSeparator(text, at);
    if (!isOutside) replace('Write "_" for the white space', at, at + blanks, '_');
    replace('Remove the white space', at, at + blanks, '');
    if (text.trim() !== text) replace('Remove the white space around the frame', 0, text.length, text.trim());
  }
  MENTION.lastIndex = at;
  const mention = MENTION.exec(text)?.[0];
  if (mention !== undefined && place.depth > 0)
    replace(`Escape ${quotedShort(mention)}`, at, at + mention.length, mention.replace(/[@:]/g, '\\$&'));
  if (found === ',' && place.depth === 1) replace('Separate the parameters by "|"', at, end, '|');
  if (found === '|') replace('Separate the items by ","', at, end, ',');
  if (text[at - 1] === '\\') replace('Escape the backslash', at - 1, at - 1, '\\');
  if (found === '\\') insert('Escape the backslash', '\\');
  // An empty value is not one that lost its backslash.
  const canEscape = place.depth > 0 && (!'|,}]'.includes(found) || !isAfterSeparator(text, at));
  if (found !== '' && DELIMITERS.includes(found) && canEscape) insert(`Escape ${quotedShort(found)}`, '\\');
  if (!place.expectsKey && place.depth > 0 && (found === '' || '|,}]'.includes(found))) {
    insert('Write "~" for null', `~${found === '' ? place.closing : ''}`);
    const key = tokens.findLast(({ role, depth }) => role === 'key' && depth === place.depth);
    if (key !== undefined && found !== '') fixes.push(removal(text, key, readFrameTokens(text).tokens));
  }
  if (found === '' && place.closing !== '') insert(`Close the frame with ${quotedShort(place.closing)}`, place.closing);
  if (found === '' && place.part === 'operation') insert('Add an empty payload', '{}');
  if (place.expectsKey && (found === ':' || '|,}]'.includes(found)) && at > 0)
    replace(`Remove ${quotedShort(text[at - 1]!)}`, at - 1, at, '');
  if (place.depth === 0 || found === '' || ']}'.includes(found)) {
    for (const literal of literals) insert(`Insert ${quotedShort(literal)}`, literal);
  }
  const name = error.expected.find((phrase) => Object.hasOwn(NAMES, phrase));
  if (name !== undefined && !/[A-Za-z0-9]/.test(found)) insert(`Insert ${quotedShort(NAMES[name]!)}`, NAMES[name]!);
  if (found > '~' && blanks === 0) replace(`Write ${quotedShort(ascii(found))}`, at, end, ascii(found));
  if (found !== '' && blanks === 0) replace(`Remove ${quotedShort(found)}`, at, end, '');
  if (error.expected.includes('end of input')) replace('Remove the rest of the line', at, text.length, '');
  return fixes;
}

/** The second of two parameters of one key gets another key, or is removed. */
function duplicateFixes(text: string, at: number): readonly Fix[] {
  const { tokens } = readFrameTokens(text);
  const key = tokens.findLast(({ role, start }) => role === 'key' && start <= at);
  if (key === undefined) return [];
  // The keys of the metadata are those of the envelope.
  if (key.part === 'metadata') return [removal(text, key, tokens)];
  let number = 2;
  while (text.includes(`${key.text}_${number}:`)) number++;
  const renamed = `${key.text}_${number}`;
  return [{ title: `Rename it to ${quotedShort(renamed)}`, span: key, text: renamed }, removal(text, key, tokens)];
}

/** Removes a parameter with one of its separators. */
function removal(text: string, key: FrameToken, tokens: readonly FrameToken[]): Fix {
  const next = tokens.find(
    ({ start, depth, role, text: token }) =>
      start > key.start &&
      role === 'punctuation' &&
      ((depth === key.depth && '|,'.includes(token)) || depth < key.depth),
  );
  const end = next?.start ?? text.length;
  const follows = next !== undefined && '|,'.includes(next.text);
  const before = tokens.findLast(({ end: to }) => to <= key.start);
  const isFirst = before === undefined || !'|,'.includes(before.text);
  const span = isFirst ? { start: key.start, end: follows ? end + 1 : end } : { start: before.start, end };
  return { title: `Remove ${quotedShort(text.slice(key.start, end))}`, span, text: '' };
}

function isAfterSeparator(text: string, at: number): boolean {
  return '{[|,:'.includes(text[at - 1] ?? '{');
}

/** Letters lose their accents; other characters become "_". */
function ascii(character: string): string {
  const plain = character.normalize('NFD').replace(/[^!-~]/g, '');
  return /^[A-Za-z0-9]+$/.test(plain) ? plain : '_';
}
