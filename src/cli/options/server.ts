/** The token of `serve` and `connect`. */
import process from 'node:process';
import type { Invocation } from './command.js';
import { textOption } from './option.js';

/** An argument stands in the list of processes, which everybody on the machine may read; a variable does not. */
export function givenToken(invocation: Invocation): string | undefined {
  return textOption(invocation, 'token') ?? (process.env['PEGWIRE_TOKEN'] || undefined);
}
