/** The analysis of AACP packets, one per line. */
import {
  canonicalizePacket,
  DOMAINS,
  explainPacket,
  type Packet,
  type PacketDiagnostic,
  type Profile,
  printPacket,
  TASKS,
  tryParsePacket,
  VERSION,
  validatePacket,
} from '../../aacp/index.js';
import { FIELD_LABELS, PRIORITIES } from '../../aacp/vocabulary.js';
import { plainPacket } from '../../bench/plain.js';
import type { TokenCounter } from '../../tokens/counter.js';
import {
  countForms,
  type Edit,
  type Fix,
  linesOf,
  MAX_PROBLEMS,
  type MessageResult,
  type Problem,
  Rows,
  shown,
} from './result.js';

/** A text of the editor, and the position of the cursor. */
export interface PacketInput {
  readonly text: string;
  readonly position: number;
  readonly profile: Profile;
}

/** Each fix is tried with the validator, so long packets get none. */
const MAX_FIXED = 4_000;

/** Validates all lines, and reads the one at the position in detail. */
export function analyzePackets({ text, position, profile }: PacketInput, counter: TokenCounter): MessageResult {
  const { lines, checked, current } = linesOf(text, position);
  const problems: Problem[] = [];
  let packet: Packet | null = null;
  let valid = false;
  for (const line of checked) {
    const result = validatePacket(line.text, { profile, spans: line === current });
    if (line === current) ({ packet, valid } = result);
    for (const finding of [...result.errors, ...result.warnings]) {
      if (problems.length >= MAX_PROBLEMS) break;
      problems.push(problemOf(finding, line.text, line.start, profile));
    }
  }
  const rows = new Rows();
  if (packet !== null) addPacket(packet, current.text, current.start, rows);
  const strict = packet === null ? null : canonicalOf(packet);
  const english = packet === null ? null : explainPacket(packet);
  return {
    ...{ problems, lines, checked: checked.length, start: current.start, valid },
    ...{ rows: rows.rows, more: rows.more },
    canonical: strict === null ? null : shown(strict),
    english: english === null ? null : shown(english),
    tokens: countForms('this packet', current.text, packet && plainPacket(packet), english, counter),
  };
}

/** Returns the canonical text; null if the packet cannot be printed, because it has no valid TASK, DOM or key. */
function canonicalOf(packet: Packet): string | null {
  try {
    const text = printPacket(canonicalizePacket(packet));
    return tryParsePacket(text).ok ? text : null;
  } catch {
    return null;
  }
}

function problemOf(finding: PacketDiagnostic, text: string, start: number, profile: Profile): Problem {
  const { code, severity, message, help, span } = finding;
  const fixes = text.length <= MAX_FIXED ? fixesOf(finding, text, profile) : [];
  return {
    ...{ from: start + (span?.start ?? 0), to: start + (span?.end ?? text.length), severity, code, help },
    message: shown(message, 400),
    fixes: fixes.map(({ label, edit }) => ({
      label,
      edit: { ...edit!, from: edit!.from + start, to: edit!.to + start },
    })),
  };
}

/** Returns the edits after which the validator no longer reports the finding, and reports no more than before. */
function fixesOf(finding: PacketDiagnostic, text: string, profile: Profile): readonly Fix[] {
  const before = validatePacket(text, { profile });
  const count = before.errors.length + before.warnings.length;
  const same = (found: ReturnType<typeof validatePacket>): number =>
    [...found.errors, ...found.warnings].filter(({ code }) => code === finding.code).length;
  return candidatesOf(finding, text).filter(({ edit }) => {
    const after = validatePacket(text.slice(0, edit.from) + edit.insert + text.slice(edit.to), { profile });
    return same(after) < same(before) && after.errors.length + after.warnings.length < count;
  });
}

interface Candidate extends Fix {
  readonly edit: Edit;
}

function candidatesOf({ code, help, span, message }: PacketDiagnostic, text: string): readonly Candidate[] {
  const { start: from, end: to } = span ?? { start: 0, end: text.length };
  const replace = (insert: string, label: string): Candidate => ({ label, edit: { from, to, insert } });
  const append = (field: string): Candidate => ({
    label: `Add ${field}`,
    edit: { from: text.trimEnd().length, to: text.trimEnd().length, insert: `|${field}` },
  });
  const suggestion = /^did you mean "([^"]+)"\?$/.exec(help ?? '')?.[1];
  if (suggestion !== undefined) return [replace(suggestion, `Replace by ${suggestion}`)];
  switch (code) {
    case 'missing-return':
      return [domainInserted(text), append('return:Agent')];
    case 'missing-aacp':
      return [append(`aacp:${VERSION}`)];
    case 'missing-p':
      return [append('p:2')];
    case 'empty-aacp':
    case 'version-mismatch':
      return [replace(VERSION, `Write ${VERSION}`)];
    case 'empty-return':
      return [replace('Agent', 'Write Agent')];
    case 'bad-priority':
      return [replace('2', 'Write 2')];
    case 'sentiment-without-tone':
      return [append('tone:neutral')];
    case 'ltv-without-ccy':
      return [append('ccy:GBP')];
    case 'key-case':
      return [replace(text.slice(from, to).toLowerCase(), 'Write it in lower case')];
    case 'whitespace':
      return [{ label: 'Remove the white space', edit: { from: 0, to: text.length, insert: trimmed(text) } }];
    case 'control-character':
      return [replace('', 'Remove the character')];
    case 'missing-task':
    case 'missing-dom': {
      const word = code === 'missing-task' ? Object.keys(TASKS)[0]! : Object.keys(DOMAINS)[0]!;
      return [
        replace(word, `Write ${word}`),
        replace(`${word}|`, `Write ${word}`),
        replace(`|${word}`, `Write ${word}`),
      ];
    }
    case 'unknown-dom':
      return /is in the place of the DOM/.test(help ?? '')
        ? [replace(`HR|${text.slice(from, to)}`, 'Insert the DOM HR')]
        : [];
    case 'empty-field':
    case 'empty-value':
    case 'duplicate-key':
    case 'malformed-field':
    case 'empty-key':
      return [without(text, from, ['Remove the field', ...(/"\w+"/.exec(message) ?? [])].join(' '))];
    default:
      return [];
  }
}

/** Inserts a DOM before the second part, which may be the field that seems to be missing. */
function domainInserted(text: string): Candidate {
  const at = text.indexOf('|') + 1;
  return { label: 'Insert the DOM HR', edit: { from: at, to: at, insert: 'HR|' } };
}

/** Removes the field at an offset, with one separator. */
function without(text: string, at: number, label: string): Candidate {
  const before = text.lastIndexOf('|', Math.max(0, at - 1));
  const next = text.indexOf('|', at);
  return { label, edit: { from: Math.max(0, before), to: next < 0 ? text.length : next, insert: '' } };
}

function trimmed(text: string): string {
  return text
    .split('|')
    .map((part) => part.trim().replace(/^([^:]*?)\s*:\s*/, '$1:'))
    .join('|');
}

function addPacket({ task, domain, fields }: Packet, text: string, start: number, rows: Rows): void {
  const node = (
    depth: number,
    label: string,
    kind: string,
    value: string,
    note: string,
    from: number,
    length: number,
  ) => rows.add({ depth, label, kind, value, note, from: start + from, to: start + from + length });
  node(0, 'packet', 'packet', '', '', 0, text.length);
  const taskAt = Math.max(0, text.indexOf(task));
  const domainAt = Math.max(0, text.indexOf(domain, taskAt + task.length + 1));
  node(1, 'TASK', 'word', task, wordOf(TASKS, task), taskAt, task.length);
  node(1, 'DOM', 'word', domain, wordOf(DOMAINS, domain), domainAt, domain.length);
  for (const { key, value, bare, span } of fields) {
    const note = key === 'p' ? wordOf(PRIORITIES, value) : wordOf(FIELD_LABELS, key);
    const { start: from = 0, end = 0 } = span ?? {};
    node(1, bare ? '(no key)' : key, 'field', value, note, from, end - from);
  }
}

function wordOf(words: Readonly<Record<string, string>>, word: string): string {
  return Object.hasOwn(words, word) ? words[word]! : '';
}
