/** The words of the vocabularies that can stand at the cursor. */
import type { Completion } from '@codemirror/autocomplete';
import { DOMAINS, FIELD_LABELS, PRIORITIES, TASKS } from '../../aacp/vocabulary.js';
import { ABBREVIATIONS, ENVELOPE, INTENTS } from '../../accp/vocabulary.js';

type Words = Readonly<Record<string, string>>;
interface Found {
  readonly from: number;
  readonly words: readonly Completion[];
}

function found(before: string, word: string, words: Words, suffix = ''): Found {
  const list = Object.entries(words).map(([label, detail]): Completion => ({ label, detail, apply: label + suffix }));
  return { from: before.length - word.length, words: list };
}

/** @param before the line up to the cursor */
export function frameCompletions(before: string): Found | null {
  const intent = /^@[A-Za-z0-9_-]+>([A-Za-z]*)$/.exec(before);
  if (intent !== null) return found(before, intent[1]!, INTENTS, ':');
  const metadata = /\}\[(?:[^\]]*,)?([A-Za-z0-9_]*)$/.exec(before);
  if (metadata !== null) return found(before, metadata[1]!, ENVELOPE, ':');
  const key = /^@[^{]*\{(?:.*[^\\]\||)([A-Za-z0-9_]*)$/.exec(before);
  return key === null ? null : found(before, key[1]!, ABBREVIATIONS, ':');
}

/** @param before the line up to the cursor */
export function packetCompletions(before: string): Found | null {
  const parts = before.split('|');
  const last = parts.at(-1)!;
  if (parts.length === 1) return found(before, last, TASKS, '|');
  if (parts.length === 2) return found(before, last, DOMAINS, '|');
  if (last.startsWith('p:')) return found(before, last.slice(2), PRIORITIES);
  return last.includes(':') ? null : found(before, last, FIELD_LABELS, ':');
}
