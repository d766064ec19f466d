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
  validatePacket,
} from '../../aacp/index.js';
import { diagnosticFixes } from '../../aacp/language/fixes.js';
import { FIELD_LABELS, PRIORITIES } from '../../aacp/vocabulary.js';
import { plainPacket } from '../../bench/plain.js';
import { helpfulFixes } from '../../text/fix.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { countForms, fixAt, linesOf, MAX_PROBLEMS, type MessageResult, type Problem, Rows, shown } from './result.js';

/** A text of the editor, and the position of the cursor. */
export interface PacketInput {
  readonly text: string;
  readonly position: number;
  readonly profile: Profile;
}

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
  const placed = (one: PacketDiagnostic) => ({ ...one, span: one.span ?? { start: 0, end: text.length } });
  const check = (fixed: string) => {
    const { errors, warnings } = validatePacket(fixed, { profile });
    return [...errors, ...warnings].map(placed);
  };
  const own = placed(finding);
  const { code, severity, message, help, span } = own;
  return {
    ...{ from: start + span.start, to: start + span.end, severity, code, help },
    message: shown(message, 400),
    fixes: helpfulFixes(text, own, diagnosticFixes(text, own), check).map((fix) => fixAt(fix, start)),
  };
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
