/** Ways to mend a frame: edits at the place of the error, each tried with the parser. */
import { type Dialect, type ParseError, tryParseFrame } from '../../accp/index.js';
import { visible } from '../../text/visible.js';
import { difference, type Fix } from './result.js';

/** Each step parses the text for every candidate, so long texts get none. */
const MAX_LENGTH = 4_000;
const MAX_STEPS = 12;
const DELIMITERS = '@>:{}[]|$,~\\';
/** Names to insert where the parser expects one. */
const NAMES: Readonly<Record<string, string>> = {
  'agent id': 'agent',
  intent: 'req',
  operation: 'operation',
  key: 'key',
};

interface Candidate {
  readonly text: string;
  readonly label: string;
}

/** Returns fixes that make the frame valid, the best one first. */
export function frameFixes(text: string, error: ParseError, dialect: Dialect): readonly Fix[] {
  const fixes: Fix[] = [];
  if (text.length <= MAX_LENGTH && error.reason !== 'limit') {
    const mended = mend(text, error, dialect);
    if (mended !== null) fixes.push({ label: mended.label, edit: difference(text, mended.text) });
  }
  if (dialect === 'strict' && text.length <= MAX_LENGTH && tryParseFrame(text, { dialect: 'lenient' }).ok)
    fixes.push({ label: 'Parse in the lenient dialect', dialect: 'lenient' });
  return fixes;
}

/** Repeats the edit that leads furthest until the text is a frame. */
function mend(text: string, first: ParseError, dialect: Dialect): Candidate | null {
  let current = text;
  let error = first;
  const labels: string[] = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    let best: { readonly candidate: Candidate; readonly error: ParseError; readonly rest: number } | null = null;
    for (const candidate of candidatesOf(current, error)) {
      const result = tryParseFrame(candidate.text, { dialect });
      if (result.ok) return { text: candidate.text, label: labelOf([...labels, candidate.label]) };
      const rest = restOf(candidate.text, result.error);
      if (best === null || rest < best.rest) best = { candidate, error: result.error, rest };
    }
    if (best === null) return null;
    const progress = restOf(current, error) - best.rest || startOf(best.error) - startOf(error);
    if (progress <= 0) return null;
    current = best.candidate.text;
    error = best.error;
    labels.push(best.candidate.label);
  }
  return null;
}

function labelOf(labels: readonly string[]): string {
  const kinds = new Set(labels);
  return kinds.size === 1
    ? labels[0]!
    : [...kinds].join(', then ').replace(/, then (.)/g, (_all, letter: string) => `, then ${letter.toLowerCase()}`);
}

/** The length of the text behind the error: the closer the error is to the end, the more of the text is right. */
function restOf(text: string, error: ParseError): number {
  return text.length - startOf(error);
}

function startOf({ span }: ParseError): number {
  return span?.start ?? 0;
}

function candidatesOf(text: string, error: ParseError): readonly Candidate[] {
  const { start, end } = error.span ?? { start: 0, end: 0 };
  const replaced = (insert: string, label: string, to = end): Candidate => ({
    text: text.slice(0, start) + insert + text.slice(to),
    label,
  });
  if (error.reason === 'duplicate-key') return renamed(text, start, end);
  const found = text.slice(start, end);
  const literals = error.expected.flatMap((phrase) => /^"(.+)"$/.exec(phrase)?.[1] ?? []);
  const insideBody = text.lastIndexOf('{', start) >= 0;
  const candidates: Candidate[] = [];
  const blanks = /^\s+/.exec(text.slice(start))?.[0];
  if (blanks !== undefined) {
    const isEdge = start === 0 || start + blanks.length === text.length || !insideBody;
    const remove = replaced('', 'Remove the white space', start + blanks.length);
    const underscore = replaced('_', 'Write "_" for the space', start + blanks.length);
    candidates.push(...(isEdge ? [remove, underscore] : [underscore, remove]));
  }
  if (error.expected.includes('a value') && /^[}|,\]]?$/.test(found))
    candidates.push({ text: `${text.slice(0, start)}~${text.slice(start)}`, label: 'Write "~" for null' });
  if (found === ',' || found === '|') {
    const other = found === ',' ? '|' : ',';
    if (literals.includes(other)) candidates.push(replaced(other, `Replace "${found}" by "${other}"`));
  }
  if (insideBody && found !== '' && DELIMITERS.includes(found))
    candidates.push(replaced(`\\${found}`, 'Escape the delimiters'));
  if (found === '' || !insideBody || ']}'.includes(found)) {
    for (const literal of literals)
      candidates.push({ text: text.slice(0, start) + literal + text.slice(start), label: `Insert ${literal}` });
  }
  const name = error.expected.flatMap((phrase) => (Object.hasOwn(NAMES, phrase) ? [NAMES[phrase]!] : []))[0];
  if (name !== undefined && !/[A-Za-z0-9]/.test(found))
    candidates.push({ text: text.slice(0, start) + name + text.slice(start), label: `Insert ${name}` });
  if (found === '' && !text.includes('{')) candidates.push({ text: `${text}{}`, label: 'Insert {}' });
  // A word that cannot be written: the characters that fit remain.
  if (found > '~') candidates.push(replaced(ascii(found), `Write ASCII for "${visible(found)}"`));
  if (text[start - 1] === '\\')
    candidates.push({ text: `${text.slice(0, start)}\\${text.slice(start)}`, label: 'Escape the backslash' });
  if (found !== '') candidates.push(replaced('', `Remove "${visible(found)}"`));
  if (error.expected.includes('end of input')) candidates.push(replaced('', 'Remove the rest', text.length));
  return candidates;
}

/** Letters without their accents; other characters become "_". */
function ascii(character: string): string {
  const plain = character.normalize('NFD').replace(/[^!-~]/g, '');
  return /^[A-Za-z0-9]+$/.test(plain) ? plain : '_';
}

/** A repeated key gets a number. */
function renamed(text: string, start: number, end: number): readonly Candidate[] {
  const key = /^[A-Za-z0-9_]+/.exec(text.slice(start, end))?.[0];
  if (key === undefined) return [];
  return [2, 3, 4].map((number) => ({
    text: `${text.slice(0, start)}${key}_${number}${text.slice(start + key.length)}`,
    label: `Rename the second "${key}" to "${key}_${number}"`,
  }));
}
