/** Commands that wait for their answers, and are resent on each new connection until they are answered. */
import { after } from '../../async/timers.js';
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { newId } from '../protocol/ids.js';

export interface Fields {
  readonly stream_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly parent_span_id?: string | undefined;
}

interface PendingCommand {
  readonly text: string;
  readonly settle: (answer?: Envelope) => void;
  readonly fail: (error: unknown) => void;
  /** `true` if the command belongs to this connection, and is not resent. */
  readonly isTransient: boolean;
}

interface CommandsOptions {
  readonly timeoutMs: number;
  readonly print: <T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields, id: string) => string;
  readonly send: (text: string) => void;
}

export class Commands {
  readonly #options: CommandsOptions;
  readonly #pending = new Map<string, PendingCommand>();
  #end: { readonly error: unknown } | undefined;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** Sends a command, and resends it on each new connection until it is answered. */
  send<T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    fields: Fields = {},
    id = newId('msg'),
  ): Promise<Envelope> {
    if (this.#end !== undefined) return Promise.reject(this.#end.error);
    const { timeoutMs, print, send } = this.#options;
    return new Promise((resolve, reject) => {
      const text = print(type, payload, fields, id);
      const remove = this.#startTimeout(id, timeoutMs, () =>
        fail(new ArcpError('DEADLINE_EXCEEDED', `The runtime did not answer ${type} within ${timeoutMs} ms`)),
      );
      const fail = (error: unknown): void => {
        remove();
        reject(error);
      };
      const settle = (answer?: Envelope): void => {
        remove();
        if (answer !== undefined) resolve(answer);
      };
      this.#pending.set(id, { text, settle, fail, isTransient: false });
      send(text);
    });
  }

  /** Sends a command on this connection only. */
  once<T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    fields: Fields,
    onError: (error: ArcpError) => void,
  ): void {
    const { timeoutMs, print, send } = this.#options;
    const id = newId('msg');
    const text = print(type, payload, fields, id);
    const remove = this.#startTimeout(id, timeoutMs, () => this.#pending.delete(id));
    const fail = (error: unknown): void => {
      remove();
      if (error instanceof ArcpError) onError(error);
    };
    this.#pending.set(id, { text, settle: remove, fail, isTransient: true });
    send(text);
  }

  handle(message: Envelope): void {
    const id = answeredId(message);
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (pending === undefined) return;
    if (message.type === 'nack') pending.fail(ArcpError.fromBody(message.payload));
    else pending.settle(message);
  }

  resend(): void {
    for (const { text, isTransient: isPassing } of this.#pending.values()) if (!isPassing) this.#options.send(text);
  }

  recheck(check: (text: string) => void): void {
    for (const { text, fail } of [...this.#pending.values()]) {
      try {
        check(text);
      } catch (error) {
        fail(error);
      }
    }
  }

  refuse(id: string, error: unknown): void {
    this.#pending.get(id)?.fail(error);
  }

  disconnect(): void {
    for (const { isTransient: isPassing, settle } of [...this.#pending.values()]) if (isPassing) settle();
  }

  end(error: unknown): void {
    this.#end = { error };
    for (const { fail } of [...this.#pending.values()]) fail(error);
  }

  #startTimeout(id: string, timeoutMs: number, onTimeout: () => void): () => void {
    const cancel = after(timeoutMs, onTimeout);
    return () => {
      cancel();
      this.#pending.delete(id);
    };
  }
}

/** Returns the id of the command that a message answers. A runtime may name a refused command in the payload only. */
export function answeredId({ correlation_id: id, ...message }: Envelope): string | undefined {
  return id ?? (message.type === 'nack' ? message.payload.nack_for : undefined);
}
