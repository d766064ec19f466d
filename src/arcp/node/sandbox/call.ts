// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** One call of a sandboxed tool, from the start of its process to the end. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LONGEST_TIMER } from '../../../async/timers.js';
import { LineDecoder } from '../../../channels/line-decoder.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import type { JobContext } from '../../runtime/contract.js';
import { type Asked, answer, askedOf } from './answers.js';
import type { SandboxSettings } from './contract.js';
import { type Ask, readSaid, type Said, type Told, type Worked } from './messages.js';
import { logOutput } from './output.js';
import { type Sandbox, startSandbox } from './start.js';

/** What may be asked for and not yet be answered, before nothing more is read: so many, and so many characters. */
const MOST_ASKED = 64;
const MOST_ASKED_SIZE = 4 * 1024 * 1024;
/** Steps that may be under way. They do not count above: what ends them is to be read. */
const MOST_STEPS = 256;

/** @throws ArcpError what the tool fails with, or what became of its process */
export async function runCall(settings: SandboxSettings, input: unknown, context: JobContext): Promise<unknown> {
  const own = await mkdtemp(path.join(tmpdir(), 'pegwire-sandbox-'));
  try {
    context.signal.throwIfAborted();
    return await new Call(settings, context, own).run(input);
  } finally {
    // A tool may have made it hard to delete; what it has come to counts all the same.
    await rm(own, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

class Call {
  readonly #settings: SandboxSettings;
  readonly #context: JobContext;
  readonly #sandbox: Sandbox;
  readonly #asked: Asked;
  /** Aborted at the end, also where that is the tool's own: what goes on for it ends, too. */
  readonly #controller = new AbortController();
  readonly #steps = new Map<number, (worked: Worked) => void>();
  #asking = 0;
  #askingSize = 0;
  #input: unknown;
  #isRunning = false;
  #hasEnded = false;
  #settle!: (outcome: { readonly value: unknown } | { readonly error: unknown }) => void;
  readonly #outcome = new Promise<{ readonly value: unknown } | { readonly error: unknown }>((resolve) => {
    this.#settle = resolve;
  });

  constructor(settings: SandboxSettings, context: JobContext, own: string) {
    this.#settings = settings;
    this.#context = context;
    this.#asked = askedOf({ ...context, signal: this.#controller.signal }, settings.broker, settings.tools);
    // Last: what is started has to be ended.
    this.#sandbox = startSandbox(settings, own);
  }

  async run(input: unknown): Promise<unknown> {
    this.#input = input;
    const { signal } = this.#context;
    const { timeoutMs, maxOutputBytes } = this.#settings;
    const { child, pipe, exited, closed, kill } = this.#sandbox;
    signal.addEventListener('abort', this.#cancel, { once: true });
    const timeout = timeoutMs === undefined ? undefined : setTimeout(this.#late, Math.min(LONGEST_TIMER, timeoutMs));
    const printed = [
      logOutput(child.stdout, 'stdout', this.#context, maxOutputBytes),
      logOutput(child.stderr, 'stderr', this.#context, maxOutputBytes),
    ];
    this.#listen();
    // What it has said before its end may be an answer.
    void exited.then(() => pipe.resume());
    void closed.then(({ error }) => this.#settle({ error: signal.aborted ? signal.reason : error }));
    const outcome = await this.#outcome;
    this.#hasEnded = true;
    signal.removeEventListener('abort', this.#cancel);
    clearTimeout(timeout);
    kill();
    pipe.destroy();
    this.#controller.abort('error' in outcome ? outcome.error : ENDED);
    await Promise.all([closed, ...printed]);
    for (const end of this.#steps.values()) end({ type: 'worked', id: 0, error: ENDED.toBody() });
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  #listen(): void {
    const { pipe } = this.#sandbox;
    const decoder = new LineDecoder({ maxLineBytes: this.#settings.maxMessageBytes });
    const receiver = {
      text: (line: string) => this.#take(line),
      garbage: (why: string) => this.#fail(new ArcpError('INTERNAL', `The sandboxed tool says no message: ${why}`)),
      tooLong: (limit: number) =>
        this.#fail(new ArcpError('PAYLOAD_TOO_LARGE', `The sandboxed tool says more than ${limit} bytes at once`)),
    };
    pipe.on('data', (chunk: Uint8Array) => decoder.push(chunk, receiver));
  }

  #take(line: string): void {
    if (this.#hasEnded) return;
    try {
      this.#hear(readSaid(line), line.length);
    } catch (error) {
      this.#fail(error);
    }
  }

  #hear(said: Said, size: number): void {
    if (said.type === 'ready') this.#begin(said.isRestricted);
    else if (!this.#isRunning) throw new ArcpError('INTERNAL', 'The sandboxed tool speaks before it was asked to');
    else if (said.type === 'result') this.#settle({ value: said.value });
    else if (said.type === 'error') this.#fail(ArcpError.fromBody(said.error));
    else if (said.type === 'worked') this.#steps.get(said.id)?.(said);
    else if (said.method === 'step') this.#step(said).catch((error) => this.#fail(error));
    else void this.#answer(said, size);
  }

  #begin(isRestricted: boolean): void {
    if (this.#isRunning) throw new ArcpError('INTERNAL', 'The sandboxed tool begins twice');
    if (!isRestricted)
      throw new ArcpError('UNIMPLEMENTED', 'The process of the sandbox is not restricted: the tool was not run');
    const { jobId, commandId, sessionId, principal, trust, attempt, traceId, spanId } = this.#context;
    const { restored, operationKey, traceparent } = this.#context;
    this.#isRunning = true;
    this.#tell({
      ...{ type: 'run', module: this.#settings.module, input: this.#input },
      context: {
        ...{ jobId, commandId, sessionId, principal, trust, attempt, traceId, spanId },
        ...{ restored, operationKey, traceparent },
      },
    });
  }

  /** It counts until the tool has taken the answer. */
  async #answer({ id, method, args }: Ask, size: number): Promise<void> {
    this.#count(1, size);
    const told = () => this.#count(-1, -size);
    try {
      this.#tell({ type: 'answer', id, value: await answer(this.#asked, method, args) }, told);
    } catch (error) {
      this.#tell({ type: 'answer', id, error: asArcpError(error).toBody() }, told);
    }
  }

  /** The runtime knows whether it was done before; where not, the tool does it. */
  async #step({ id, args: [key] }: Ask): Promise<void> {
    if (this.#steps.has(id) || this.#steps.size >= MOST_STEPS)
      throw new ArcpError('RESOURCE_EXHAUSTED', 'Too many steps are under way', { retryable: false });
    this.#steps.set(id, () => {});
    const told = () => this.#steps.delete(id);
    try {
      if (typeof key !== 'string') throw new ArcpError('INVALID_ARGUMENT', 'A step has a key');
      const value = await this.#context.step(key, (operationKey) => this.#work(id, operationKey));
      this.#tell({ type: 'answer', id, value }, told);
    } catch (error) {
      this.#tell({ type: 'answer', id, error: asArcpError(error).toBody() }, told);
    }
  }

  #work(id: number, operationKey: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(ENDED);
      this.#steps.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value);
        else reject(ArcpError.fromBody(error));
      });
      this.#tell({ type: 'work', id, operationKey });
    });
  }

  /** Reads on as soon as enough was answered: whoever asks for more than can be done waits. */
  #count(number: number, size: number): void {
    this.#asking += number;
    this.#askingSize += size;
    const { pipe } = this.#sandbox;
    if (this.#asking >= MOST_ASKED || this.#askingSize >= MOST_ASKED_SIZE) pipe.pause();
    else pipe.resume();
  }

  readonly #cancel = (): void => {
    const { reason } = this.#context.signal;
    this.#controller.abort(reason);
    if (!this.#isRunning) {
      this.#fail(reason);
      return;
    }
    this.#tell({ type: 'cancel', error: asArcpError(reason).toBody() });
    const timer = setTimeout(() => this.#fail(reason), Math.min(LONGEST_TIMER, this.#settings.killGraceMs));
    void this.#outcome.then(() => clearTimeout(timer));
  };

  readonly #late = (): void => {
    const { timeoutMs } = this.#settings;
    this.#fail(new ArcpError('DEADLINE_EXCEEDED', `The sandboxed tool has not ended within ${timeoutMs} ms`));
  };

  #fail(error: unknown): void {
    this.#settle({ error });
  }

  /** @param taken called when it was taken, or nobody takes anything any more */
  #tell(told: Told, taken: () => void = () => {}): void {
    const { pipe } = this.#sandbox;
    if (this.#hasEnded) return;
    try {
      pipe.write(`${JSON.stringify(told)}\n`, taken);
    } catch (cause) {
      this.#fail(new ArcpError('INVALID_ARGUMENT', `What a sandbox is given has no JSON: ${(cause as Error).message}`));
    }
  }
}

const ENDED = new ArcpError('ABORTED', 'The sandboxed tool has ended');
