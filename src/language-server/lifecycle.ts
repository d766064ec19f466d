/** The order of messages in the Language Server Protocol 3.17: `initialize`, then all others, then `shutdown` and `exit`. */
import { isRecord } from '../text/guards.js';
import {
  ErrorCodes,
  Message,
  type MessageStrategy,
  type MessageWriter,
  type RequestMessage,
  ResponseError,
  type ResponseMessage,
} from './protocol.js';

/** Answers the requests that are out of order with an error, and drops such notifications. */
export class Lifecycle implements MessageStrategy {
  readonly #writer: MessageWriter;
  #state: 'created' | 'running' | 'shut down' = 'created';

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  get isShutDown(): boolean {
    return this.#state === 'shut down';
  }

  handleMessage(message: Message, next: (message: Message) => void | Promise<void>): void | Promise<void> {
    if (Message.isRequest(message)) {
      const error = this.#errorOf(message);
      if (error !== null) {
        const response: ResponseMessage = { jsonrpc: '2.0', id: message.id, error: error.toJson() };
        return this.#writer.write(response);
      }
      if (message.method === 'initialize') this.#state = 'running';
      if (message.method === 'shutdown') this.#state = 'shut down';
      // The library reads members of the parameters if there are any.
      const { params, ...others } = message;
      return next(params === null ? others : message);
    }
    if (Message.isNotification(message) && this.#state !== 'running' && message.method !== 'exit') return;
    return next(message);
  }

  #errorOf({ method, params }: RequestMessage): ResponseError | null {
    if (this.#state === 'shut down') return new ResponseError(ErrorCodes.InvalidRequest, 'The server is shut down.');
    if (method !== 'initialize') {
      const isEarly = this.#state === 'created';
      return isEarly ? new ResponseError(ErrorCodes.ServerNotInitialized, 'The server is not initialized.') : null;
    }
    if (this.#state === 'running')
      return new ResponseError(ErrorCodes.InvalidRequest, 'The server is initialized already.');
    return isRecord(params) && isRecord(params['capabilities']) ? null : invalidParam('capabilities');
  }
}

/** Returns the error for a parameter that is missing, or has another type. */
export function invalidParam(name: string): ResponseError {
  return new ResponseError(ErrorCodes.InvalidParams, `The parameter "${name}" is missing or invalid.`);
}
