// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program for Node
/** The connection of a sandboxed tool to the runtime. */
import { bodyOf, errorOf } from './errors.mjs';

/** @typedef {import('../call.js').ToolMessage} ToolMessage */
/** @typedef {import('../call.js').RuntimeMessage} RuntimeMessage */
/** @typedef {Extract<RuntimeMessage, { type: 'run' }>} Run */
/** @typedef {{ resolve: (value: any) => void, reject: (error: Error) => void, work?: ((operationKey: string) => unknown) | undefined }} PendingRequest */

export class Parent {
  #pipe;
  #next = 0;
  /** @type {Map<number, PendingRequest>} */
  #pending = new Map();
  #controller = new AbortController();
  /** @type {(run: Run) => void} */
  onRun = () => {};

  /**
   * @param {import('node:net').Socket} pipe
   * @param {() => void} onEnd called when the runtime has disconnected
   */
  constructor(pipe, onEnd) {
    this.#pipe = pipe;
    /** The pieces of an incomplete line. */
    let pending = [''];
    pipe.setEncoding('utf8');
    pipe.on('data', (/** @type {string} */ text) => {
      const [end, ...lines] = text.split('\n');
      pending.push(/** @type {string} */ (end));
      for (const next of lines) {
        this.#handle(JSON.parse(pending.join('')));
        pending = [next];
      }
    });
    pipe.on('close', onEnd);
    pipe.on('error', onEnd);
  }

  /** @returns {AbortSignal} */
  get signal() {
    return this.#controller.signal;
  }

  /** @param {ToolMessage} message */
  send(message) {
    let line;
    try {
      line = JSON.stringify(message);
    } catch (error) {
      const text = `The result of the sandboxed tool cannot be sent as JSON: ${/** @type {Error} */ (error).message}`;
      line = JSON.stringify({ type: 'error', error: { code: 'INVALID_ARGUMENT', message: text } });
    }
    this.#pipe.write(`${line}\n`);
  }

  /**
   * @param {string} method
   * @param {unknown[]} args
   * @param {(operationKey: string) => unknown} [work] the work of a step, which runs here
   * @returns {Promise<any>}
   */
  ask(method, args, work) {
    const id = this.#next++;
    // Throws if the arguments are not JSON, which fails this call only.
    const line = JSON.stringify({ type: 'ask', id, method, args });
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, work });
      this.#pipe.write(`${line}\n`);
    });
  }

  /** @param {RuntimeMessage} message */
  #handle(message) {
    if (message.type === 'run') this.onRun(message);
    else if (message.type === 'cancel') this.#controller.abort(errorOf(message.error));
    else if (message.type === 'work') void this.#work(message.id, message.operationKey);
    else {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error === undefined) pending?.resolve(message.value);
      else pending?.reject(errorOf(message.error));
    }
  }

  /**
   * @param {number} id
   * @param {string} operationKey
   */
  async #work(id, operationKey) {
    try {
      this.send({ type: 'worked', id, value: await this.#pending.get(id)?.work?.(operationKey) });
    } catch (error) {
      this.send({ type: 'worked', id, error: bodyOf(error) });
    }
  }
}
