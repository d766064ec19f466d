/** The cases of conformance/acp/stdio.json: input and expected output. */
import { expect } from 'vitest';
import type { Handler } from '../../src/acp/index.js';
import { readJson } from '../conformance/fixtures.js';
import { encode, linesOf, type RunResult } from './agent-process.js';

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

/** Returns the chunks in which the input is written. */
export function piecesOf({ input, inputHex, chunks }: Case): Uint8Array[] {
  const bytes = inputHex === undefined ? encode(input!) : Buffer.from(inputHex, 'hex');
  if (chunks === 'bytes') return Array.from(bytes, (byte) => Uint8Array.of(byte));
  const half = chunks === 'halves' ? Math.floor(bytes.length / 2) : bytes.length;
  return [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
}

/** Returns the output of an agent in the form of the cases. */
export function outputOf(ran: RunResult): unknown[] {
  return linesOf(ran).map((line) => (Array.isArray(line) ? sorted(line.map(simplified)) : simplified(line)));
}

/** Returns the expected output. A result that is given as text must occur literally. */
export function expectedOf({ output }: Case, { stdout }: RunResult): unknown[] {
  return output.map((line) => (Array.isArray(line) ? sorted(line) : parsed(line as Expected, stdout)));
}

/** Reduces the error of a response to its code. */
export function simplified(response: unknown): unknown {
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

/** Sorts responses, whose order is not defined. */
export function sorted(responses: readonly unknown[]): unknown[] {
  return [...responses].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Returns the handlers of the minimal agent, for one connection. */
export function minimalAgent(): Record<string, Handler> {
  let notes = 0;
  return {
    echo: (params) => params,
    fail: () => {
      throw new Error('intended failure');
    },
    sleep: ({ ms }: { ms: number }) => new Promise((resolve) => setTimeout(resolve, ms, ms)),
    log: () => {},
    note: (_, { id }) => {
      if (id === undefined) notes++;
    },
    notes: () => notes,
  };
}
