/** The cases of conformance/acp/stdio.json: what is sent, and what has to come back. */
import { expect } from 'vitest';
import type { Handler } from '../../src/acp/index.js';
import { readJson } from '../conformance/fixtures.js';
import { encode, linesOf, type Ran } from './agent-process.js';

interface Expected {
  readonly id: unknown;
  readonly result?: unknown;
  readonly resultText?: string;
  readonly error?: number;
}

export interface Case {
  readonly id: string;
  readonly name: string;
  readonly input?: string;
  readonly inputHex?: string;
  readonly chunks?: 'bytes' | 'halves';
  readonly output: readonly (Expected | readonly Expected[])[];
}

export const { cases } = readJson('acp/stdio.json') as { readonly cases: readonly Case[] };

/** The pieces in which the input is written. */
export function piecesOf({ input, inputHex, chunks }: Case): Uint8Array[] {
  const bytes = inputHex === undefined ? encode(input!) : Buffer.from(inputHex, 'hex');
  if (chunks === 'bytes') return Array.from(bytes, (byte) => Uint8Array.of(byte));
  const half = chunks === 'halves' ? Math.floor(bytes.length / 2) : bytes.length;
  return [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
}

/** What came back, in the form of the cases. */
export function toldOf(ran: Ran): unknown[] {
  return linesOf(ran).map((line) => (Array.isArray(line) ? inOrder(line.map(told)) : told(line)));
}

/** What has to come back. A result that is given as text is looked for as text. */
export function expectedOf({ output }: Case, { stdout }: Ran): unknown[] {
  return output.map((line) => (Array.isArray(line) ? inOrder(line) : parsed(line as Expected, stdout)));
}

/** A response with of its error the code alone. */
export function told(response: unknown): unknown {
  const { jsonrpc, id, error, ...rest } = response as { jsonrpc: string; id: unknown; error?: { code: number } };
  expect(jsonrpc).toBe('2.0');
  expect('result' in rest).toBe(error === undefined);
  return { id, ...rest, ...(error === undefined ? {} : { error: error.code }) };
}

function parsed({ resultText, ...rest }: Expected, stdout: string): unknown {
  if (resultText === undefined) return rest;
  expect(stdout).toContain(resultText);
  return { ...rest, result: JSON.parse(resultText) };
}

export function inOrder(responses: readonly unknown[]): unknown[] {
  return [...responses].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The handlers of the minimal agent, for one connection. */
export function minimalAgent(): Record<string, Handler> {
  let notes = 0;
  return {
    echo: (params) => params,
    fail: () => {
      throw new Error('failed on purpose');
    },
    sleep: ({ ms }: { ms: number }) => new Promise((resolve) => setTimeout(resolve, ms, ms)),
    log: () => {},
    note: (_, { id }) => {
      if (id === undefined) notes++;
    },
    notes: () => notes,
  };
}
