/** Starts processes that encode, and a model for them that counts its calls. */
import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';

/** The program that encodes. */
export const ENCODER_CHILD = new URL('encoder-child.ts', import.meta.url);

export interface Job {
  readonly instructions: readonly string[];
  /** If true, all at once; otherwise one after the other. */
  readonly together: boolean;
  /** The duration of its reservations in milliseconds. @default that of the encoder */
  readonly lease?: number;
}

export interface ChildAnswer {
  readonly instruction: string;
  readonly packet: string;
  readonly tier: string;
  readonly cost: number | null;
  /** The number of processes. */
  readonly warnings: number;
}

export interface EncodingChild {
  /** Waits until it prints a word. */
  readonly says: (word: 'open' | 'asked') => Promise<void>;
  /** Starts it. */
  readonly begin: () => void;
  readonly kill: () => void;
  /** Its answers when it has ended. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly answers: readonly ChildAnswer[];
    readonly stderr: string;
  }>;
}

/** @param program `ENCODER_CHILD`, compiled */
export function encoding(program: string, file: string, url: string, job: Job): EncodingChild {
  const child = spawn(process.execPath, [program, file, url, JSON.stringify(job)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const answers: ChildAnswer[] = [];
  const printed = new Set<string>();
  const listeners = new Map<string, () => void>();
  let stderr = '';
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  // It may have ended.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) answers.push(JSON.parse(line) as ChildAnswer);
    printed.add(line);
    listeners.get(line)?.();
  });
  const ended = new Promise<{ code: number | null; answers: ChildAnswer[]; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, answers, stderr }));
  });
  return {
    ended,
    says: async (word) => {
      const heard = new Promise<void>((resolve) => listeners.set(word, resolve));
      if (printed.has(word)) return;
      const first = await Promise.race([heard, ended]);
      if (first !== undefined && !printed.has(word))
        throw new Error(`It ended before it printed ${word}: ${first.stderr}`);
    },
    begin: () => child.stdin.end('begin\n'),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The requests to the model. */
export interface Asked {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
}

export interface CountingModel {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Waits until it has been called so many times. */
  readonly wasAsked: (times: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @param answer returns the reply to a request as JSON, at any time */
export async function countingModel(answer: (asked: Asked, number: number) => unknown): Promise<CountingModel> {
  const asked: Asked[] = [];
  let check = (): void => {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
      asked.push(one);
      check();
      void reply(response, answer(one, asked.length));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    wasAsked: (times) =>
      new Promise((resolve) => {
        check = () => {
          if (asked.length >= times) resolve();
        };
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function reply(response: ServerResponse, answer: unknown): Promise<void> {
  const body = JSON.stringify(await answer);
  if (!response.destroyed) response.end(body);
}
