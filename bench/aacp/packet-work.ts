/** The work for encoding, validating and explaining, with pegwire and with a straightforward port of the reference SDK. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeStep, type StepResult } from '../../src/aacp/encoders/index.js';
import { explainPacket, validatePacket } from '../../src/aacp/index.js';
import type { Runner } from '../../src/bench/race.js';
import { flat, handling } from '../../src/bench/workload.js';
import { projectRoot } from '../root.js';
import type { SplitPacket } from './split-encode.js';
import { splitExplain } from './split-explain.js';
import { splitValidate } from './split-validate.js';
import { SPLIT_ENCODERS } from './split-workflows.js';

/** One call of an encoder, with the packet of the reference SDK. */
export interface EncodingRow {
  readonly id: string;
  readonly encoder: string;
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly packetDraft11: string;
}

/** Rows that the port encodes incorrectly, because JavaScript formats some numbers differently from Python, and strings are not lists. */
const NOT_PORTED: readonly ((row: EncodingRow) => boolean)[] = [
  ({ args }) => args['prog'] === 0.125,
  ({ args }) => args['amt'] === 1e-7,
  ({ args, encoder }) => encoder === 'RuleBasedEncoder' && typeof args['to'] === 'string',
];

export const SPLIT = 'split-based port';
export const PEGWIRE = 'pegwire';

/** The rows that both encode. The port has the raw encoder and three of the eight workflows. */
export function encodingRows(): EncodingRow[] {
  const { cases } = readCases<Partial<EncodingRow> & { readonly encoder: string; readonly method: string }>('encoders');
  return cases.filter((row): row is EncodingRow => {
    const ported = SPLIT_ENCODERS[row.encoder]?.[row.method] !== undefined && row.packetDraft11 !== undefined;
    return ported && !NOT_PORTED.some((isWrong) => isWrong(row as EncodingRow));
  });
}

/** The packets of all rows, and the examples of the draft. */
export function packetTexts(): string[] {
  const encoded = readCases<Partial<EncodingRow>>('encoders').cases.flatMap((row) => row.packetDraft11 ?? []);
  const drafts = readCases<{ readonly id: string; readonly packet: string }>('packets').cases;
  const examples = drafts.filter(({ id }) => id.startsWith('draft-')).map(({ packet }) => packet);
  return [...new Set([...encoded, ...examples])].map(flat);
}

function readCases<Case>(name: string): { readonly cases: readonly Case[] } {
  const file = path.join(projectRoot(), `test/conformance/aacp/${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly Case[] };
}

const COMPAT = { compat: 'sdk' } as const;

export function encodeRow({ encoder, method, args }: EncodingRow): StepResult {
  return encodeStep(encoder as string, method, args, COMPAT) as StepResult;
}

export function splitEncodeRow({ encoder, method, args }: EncodingRow): SplitPacket {
  return SPLIT_ENCODERS[encoder]![method]!(args as never);
}

/**
 * Encodes and validates a packet. The port validates within its encoder, pegwire when its findings are read; its
 * encoder cannot produce an invalid packet.
 */
function encodeAndCheck(row: EncodingRow): string {
  const { packet, diagnostics } = encodeRow(row);
  return diagnostics.some(({ severity }) => severity === 'error') ? '' : packet;
}

export function encodingRunners(rows: readonly EncodingRow[]): Runner[] {
  return [
    handling(SPLIT, (row) => splitEncodeRow(row).packet, rows),
    handling(PEGWIRE, (row) => encodeRow(row).packet, rows),
    handling(`${PEGWIRE}, and the validator's findings`, encodeAndCheck, rows),
  ];
}

export function validatingRunners(texts: readonly string[]): Runner[] {
  return [handling(SPLIT, splitValidate, texts), handling(PEGWIRE, (text) => validatePacket(text), texts)];
}

export function explainingRunners(texts: readonly string[]): Runner[] {
  return [handling(SPLIT, splitExplain, texts), handling(PEGWIRE, (text) => explainPacket(text), texts)];
}
