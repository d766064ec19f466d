/** Helpers of the tests of `encode` and `decode`. */
import { readFileSync } from 'node:fs';
import type { Ended } from '../../helpers/child.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

export interface CorpusMessage {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly envelope: Readonly<Record<string, unknown>>;
}

interface Sample {
  readonly id: string;
  readonly message: CorpusMessage;
}

/** The corpus, by identifier. */
export const CORPUS: readonly Sample[] = JSON.parse(readFileSync('bench/corpus/messages.json', 'utf8'));

/** A message with as little as there can be. */
export const FIND = { intent: 'req', operation: 'find', payload: { query: 'cats' } };

export function encode(messages: readonly unknown[], ...options: readonly string[]): Promise<Ended> {
  const stdin = lines(...messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))));
  return cli(['encode', 'accp', ...options], { stdin });
}

export function decode(frames: string, ...options: readonly string[]): Promise<Ended> {
  return cli(['decode', 'accp', ...options], { stdin: frames });
}

/** The frames of messages that are all accepted. */
export async function framesOf(messages: readonly unknown[], ...options: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await encode(messages, ...options);
  if (code !== 0) throw new Error(stderr);
  return stdout.split('\n').filter((line) => line !== '');
}

export interface DecodedMessage extends CorpusMessage {
  readonly envelope: {
    readonly msg_id: string;
    readonly sequence: number;
    readonly timestamp: number;
    readonly session_id?: string;
    readonly correlation_id?: string;
    readonly causation_id?: string;
    readonly ttl?: number;
  };
}

/** The messages of frames that are all accepted. */
export async function messagesOf(frames: readonly string[], ...options: readonly string[]): Promise<DecodedMessage[]> {
  const { code, stdout, stderr } = await decode(lines(...frames), ...options);
  if (code !== 0) throw new Error(stderr);
  return jsonLines(stdout) as DecodedMessage[];
}
