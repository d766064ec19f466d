/** The analysis of ACCP frames, one per line. */
import {
  type Dialect,
  explainFrame,
  type Frame,
  type Param,
  printFrame,
  tryParseFrame,
  type Value,
} from '../../accp/index.js';
import { ABBREVIATIONS, ENVELOPE, INTENTS } from '../../accp/vocabulary.js';
import { plainFrame } from '../../bench/plain.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { frameFixes } from './frame-fixes.js';
import { countForms, linesOf, MAX_PROBLEMS, type MessageResult, type Problem, Rows, shown } from './result.js';

/** A text of the editor, and the position of the cursor. */
export interface FrameInput {
  readonly text: string;
  readonly position: number;
  readonly dialect: Dialect;
}

/** Analyzes all lines, and the one at the position in detail. */
export function analyzeFrames({ text, position, dialect }: FrameInput, counter: TokenCounter): MessageResult {
  const { lines, checked, current } = linesOf(text, position);
  const problems: Problem[] = [];
  let frame: Frame | null = null;
  for (const line of checked) {
    const result = tryParseFrame(line.text, { dialect, spans: line === current });
    if (result.ok) {
      if (line === current) frame = result.value;
      continue;
    }
    if (problems.length >= MAX_PROBLEMS) continue;
    const { code, message, help, span } = result.error;
    const fixes = frameFixes(line.text, result.error, dialect).map(({ edit, ...fix }) =>
      edit === undefined ? fix : { ...fix, edit: { ...edit, from: edit.from + line.start, to: edit.to + line.start } },
    );
    const from = line.start + (span?.start ?? 0);
    problems.push({
      from,
      to: line.start + (span?.end ?? 0),
      severity: 'error',
      code,
      message: shown(message, 400),
      help,
      fixes,
    });
  }
  const rows = new Rows();
  if (frame !== null) addFrame(frame, current.text, current.start, rows);
  const canonical = frame === null ? null : printFrame(frame);
  const english = frame === null ? null : explainFrame(frame);
  return {
    ...{ problems, lines, checked: checked.length, start: current.start, valid: frame !== null },
    ...{ rows: rows.rows, more: rows.more },
    canonical: canonical === null ? null : shown(canonical),
    english: english === null ? null : shown(english),
    tokens: countForms('this frame', current.text, frame && plainFrame(frame), english, counter),
  };
}

function addFrame(frame: Frame, text: string, start: number, rows: Rows): void {
  const { agent, intent, operation, payload, metadata, span } = frame;
  const place = (from: number, length: number) => ({ from: start + from, to: start + from + length });
  rows.add({ depth: 0, label: 'frame', kind: 'frame', value: '', note: '', ...place(span?.start ?? 0, text.length) });
  const word = (label: string, value: string, offset: number, note = '') =>
    rows.add({ depth: 1, label, kind: 'word', value, note, ...place(offset, value.length) });
  word('agent', agent, 1);
  word(
    'intent',
    intent,
    agent.length + 2,
    Object.hasOwn(INTENTS, intent) ? INTENTS[intent] : 'not in Table 7 of the draft',
  );
  word('operation', operation, agent.length + intent.length + 3);
  const open = agent.length + intent.length + operation.length + 3;
  const close = metadata === null ? text.length : text.lastIndexOf('[', metadata[0]?.span?.start ?? 0);
  rows.add({
    depth: 1,
    label: 'payload',
    kind: 'params',
    value: many(payload.length),
    note: '',
    ...place(open, close - open),
  });
  for (const param of payload) addParam(param, 2, ABBREVIATIONS, start, rows);
  if (metadata !== null) {
    rows.add({
      depth: 1,
      label: 'metadata',
      kind: 'params',
      value: many(metadata.length),
      note: '',
      ...place(close, text.length - close),
    });
    for (const param of metadata) addParam(param, 2, ENVELOPE, start, rows);
  }
}

function many(count: number, what = 'parameter'): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function addParam(
  { key, value, span }: Param,
  depth: number,
  words: Readonly<Record<string, string>>,
  start: number,
  rows: Rows,
): void {
  const note = Object.hasOwn(words, key) ? words[key]! : '';
  addValue(value, key, note, depth, start, rows, span);
}

function addValue(
  value: Value,
  label: string,
  note: string,
  depth: number,
  start: number,
  rows: Rows,
  span: Value['span'] = value.span,
): void {
  const { start: from = 0, end: to = 0 } = span ?? {};
  rows.add({ depth, label, kind: value.kind, value: textOf(value), note, from: start + from, to: start + to });
  if (value.kind === 'array') {
    for (const [index, item] of value.items.entries()) addValue(item, String(index), '', depth + 1, start, rows);
  } else if (value.kind === 'map') {
    for (const param of value.entries) addParam(param, depth + 1, {}, start, rows);
  }
}

function textOf(value: Value): string {
  switch (value.kind) {
    case 'array':
      return many(value.items.length, 'item');
    case 'map':
      return value.entries.length === 1 ? '1 entry' : `${value.entries.length} entries`;
    case 'null':
      return 'null';
    case 'ref':
      return `$${value.path}`;
    case 'integer':
    case 'decimal':
      return value.text ?? String(value.value);
    default:
      return String(value.value);
  }
}
