/** The conformance cases as typed values, validated by `schema.test.ts`. */
import { readFileSync } from 'node:fs';

/** A case of a file in `accp/`. */
export interface AccpCase {
  readonly id: string;
  readonly input: string;
  readonly dialect: 'strict' | 'lenient';
  readonly ast?: unknown;
  readonly canonical?: string;
  readonly sorted?: string;
  readonly error?: ExpectedError;
}

export interface ExpectedError {
  readonly code: string;
  readonly offset: number;
  readonly approximate?: true;
}

/** The result of a validator: codes of pegwire or, for the two SDKs, their messages. */
export interface ValidatorResult {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

interface AacpCase {
  readonly id: string;
  readonly packet: string;
}

export interface PacketCase extends AacpCase {
  readonly canonical?: string;
  readonly error?: ExpectedError;
}

export interface ExplainCase extends AacpCase {
  readonly explanation: string;
}

export interface ValidatorCase extends AacpCase, ValidatorResult {
  readonly sdkPy: ValidatorResult;
  readonly sdkTs: ValidatorResult;
}

export const ACCP_FILES = ['frames', 'values', 'canonical', 'invalid', 'lenient', 'limits'] as const;

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
}

function casesOf<Case>(path: string): readonly Case[] {
  return (readJson(path) as { readonly cases: readonly Case[] }).cases;
}

export function accpCases(): readonly AccpCase[] {
  return ACCP_FILES.flatMap((file) => casesOf<AccpCase>(`accp/${file}.json`));
}

export function packetCases(): readonly PacketCase[] {
  return casesOf('aacp/packets.json');
}

export function explainCases(): readonly ExplainCase[] {
  return casesOf('aacp/explain.json');
}

export function validatorCases(): readonly ValidatorCase[] {
  return casesOf('aacp/validator.json');
}
