/** Quick fixes of frames. */

import { quotedShort } from '../../text/visible.js';
import type { Finding, Fix } from '../language.js';
import { checkFrame } from './frame-checks.js';
import { type FrameToken, readFrameTokens } from './frame-tokens.js';
import type { MessageSettings } from './message-language.js';
import { suggested, verified } from './verified-fixes.js';

const DELIMITERS = '@>:{}[]|$,~\\';
const MENTION = /@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?/y;

export function frameFixes(text: string, finding: Finding, settings: MessageSettings): readonly Fix[] {
  const word = suggested(finding);
  const candidates =
    word !== undefined
      ? [{ title: `Replace with ${quotedShort(word)}`, span: finding.span, text: word }]
      : /\bremove one of the two\b/.test(finding.help ?? '')
        ? removals(text, finding)
        : syntaxFixes(text, finding.span.start);
  return verified(text, finding, candidates, (one) => checkFrame(one, settings));
}

/** Returns the removal of the parameter that a finding is about, with one separator. */
function removals(text: string, { span }: Finding): readonly Fix[] {
  const { tokens } = readFrameTokens(text);
  const key = tokens.findLast(({ role, start }) => role === 'key' && start <= span.start);
  return key === undefined ? [] : [removal(text, key, tokens)];
}

function removal(text: string, key: FrameToken, tokens: readonly FrameToken[]): Fix {
  const next = tokens.find(
    ({ start, depth, role, text: token }) =>
      start > key.start &&
      role === 'punctuation' &&
      ((depth === key.depth && '|,'.includes(token)) || depth < key.depth),
  );
  const end = next?.start ?? text.length;
  const follows = next !== undefined && '|,'.includes(next.text);
  const before = tokens.findLast(({ end: at }) => at <= key.start);
  const isFirst = before === undefined || !'|,'.includes(before.text);
  const span = isFirst ? { start: key.start, end: follows ? end + 1 : end } : { start: before.start, end };
  return { title: `Remove ${quotedShort(text.slice(key.start, end))}`, span, text: '' };
}

/** Returns all changes at the place of a syntax error that could help, the likeliest first. */
function syntaxFixes(text: string, at: number): readonly Fix[] {
  const { tokens, place } = readFrameTokens(text.slice(0, at));
  const found = text.slice(at, at + (text.codePointAt(at)! > 0xffff ? 2 : 1));
  const fixes: Fix[] = [];
  const replace = (title: string, start: number, end: number, by: string): void => {
    fixes.push({ title, span: { start, end }, text: by });
  };

  const blanks = /^\s+/.exec(text.slice(at))?.[0].length ?? 0;
  if (blanks > 0) {
    const isOutside = at === 0 || at + blanks === text.length || place.depth === 0 || isAfterSeparator(text, at);
    if (!isOutside) replace('Write "_" for the white space', at, at + blanks, '_');
    replace('Remove the white space', at, at + blanks, '');
    const outer = /^(\s*)(.*?)(\s*)$/s.exec(text)!;
    if (outer[1] !== '' || outer[3] !== '')
      replace('Remove the white space around the frame', 0, text.length, outer[2]!);
  }
  MENTION.lastIndex = at;
  const mention = MENTION.exec(text)?.[0];
  if (mention !== undefined)
    replace(`Escape ${quotedShort(mention)}`, at, at + mention.length, mention.replace(/[@:]/g, '\\$&'));
  if (found === ',' && place.depth === 1) replace('Separate the parameters by "|"', at, at + 1, '|');
  if (found === '|') replace('Separate the items by ","', at, at + 1, ',');
  if (text[at - 1] === '\\') replace('Escape the backslash', at - 1, at - 1, '\\');
  if (found === '\\') replace('Escape the backslash', at, at, '\\');
  // An empty value is not one that lost its backslash.
  const canEscape = !'|,}]'.includes(found) || !isAfterSeparator(text, at);
  if (found !== '' && DELIMITERS.includes(found) && canEscape) replace(`Escape ${quotedShort(found)}`, at, at, '\\');
  if (!place.expectsKey && place.depth > 0) {
    if (found === '' || '|,}]'.includes(found))
      replace('Write "~" for null', at, at, `~${found === '' ? place.closing : ''}`);
    const key = tokens.findLast(({ role, depth }) => role === 'key' && depth === place.depth);
    if (key !== undefined && '|,}]'.includes(found)) fixes.push(removal(text, key, readFrameTokens(text).tokens));
  }
  if (found === '' && place.closing !== '')
    replace(`Close the frame with ${quotedShort(place.closing)}`, at, at, place.closing);
  if (found === '' && place.part === 'operation') replace('Add an empty payload', at, at, '{}');
  if (place.expectsKey && (found === ':' || '|,}]'.includes(found)) && at > 0) {
    replace(`Remove ${quotedShort(text[at - 1]!)}`, at - 1, at, '');
    if (found !== '') replace(`Remove ${quotedShort(found)}`, at, at + 1, '');
  }
  if (found > '~') {
    const plain = found.normalize('NFKD').replace(/[^!-~]/g, '');
    if (plain !== '') replace(`Write ${quotedShort(plain)}`, at, at + found.length, plain);
  }
  if (place.part === 'end' && found !== '') replace('Remove the rest of the line', at, text.length, '');
  return fixes;
}

function isAfterSeparator(text: string, at: number): boolean {
  return '{[|,:'.includes(text[at - 1] ?? '{');
}
