// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program of Node
/** The runtime, as a sandboxed tool speaks to it. */
import { bodyOf, errorOf } from './errors.mjs';

/** @typedef {import('../call.js').ToolMessage} Said */
/** @typedef {import('../call.js').RuntimeMessage} Told */
/** @typedef {Extract<Told, { type: 'run' }>} Run */
/** @typedef {{ resolve: (value: any) => void, reject: (error: Error) => void, work?: ((operationKey: string) => unknown) | undefined }} Waiting */

export class Parent {
  #pipe;
  #next = 0;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #controller = new AbortController();
  /** @type {(run: Run) => void} */
  onRun = () => {};

  /**
   * @param {import('node:net').Socket} pipe
   * @param {() => void} onEnd the runtime has gone
   */
  constructor(pipe, onEnd) {
    this.#pipe = pipe;
    /** What a line begins with whose end has not come. */
    let held = [''];
    pipe.setEncoding('utf8');
    pipe.on('data', (/** @type {string} */ text) => {
      const [end, ...lines] = text.split('\n');
      held.push(/** @type {string} */ (end));
      for (const next of lines) {
        this.#hear(JSON.parse(held.join('')));
        held = [next];
      }
    });
    pipe.on('close', onEnd);
    pipe.on('error', onEnd);
  }

  /** @returns {AbortSignal} */
  get signal() {
    return this.#controller.signal;
  }

  /** @param {Said} said */
  say(said) {
    let line;
    try {
      line = JSON.stringify(said);
    } catch (error) {
      const message = `What the sandboxed tool says has no JSON: ${/** @type {Error} */ (error).message}`;
      line = JSON.stringify({ type: 'error', error: { code: 'INVALID_ARGUMENT', message } });
    }
    this.#pipe.write(`${line}\n`);
  }

  /**
   * @param {string} method
   * @param {unknown[]} args
   * @param {(operationKey: string) => unknown} [work] what is to be done for it here
   * @returns {Promise<any>}
   */
  ask(method, args, work) {
    const id = this.#next++;
    // What has no JSON is the mistake of this call, and of no other.
    const line = JSON.stringify({ type: 'ask', id, method, args });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, work });
      this.#pipe.write(`${line}\n`);
    });
  }

  /** @param {Told} told */
  #hear(told) {
    if (told.type === 'run') this.onRun(told);
    else if (told.type === 'cancel') this.#controller.abort(errorOf(told.error));
    else if (told.type === 'work') void this.#work(told.id, told.operationKey);
    else {
      const waiting = this.#waiting.get(told.id);
      this.#waiting.delete(told.id);
      if (told.error === undefined) waiting?.resolve(told.value);
      else waiting?.reject(errorOf(told.error));
    }
  }

  /**
   * @param {number} id
   * @param {string} operationKey
   */
  async #work(id, operationKey) {
    try {
      this.say({ type: 'worked', id, value: await this.#waiting.get(id)?.work?.(operationKey) });
    } catch (error) {
      this.say({ type: 'worked', id, error: bodyOf(error) });
    }
  }
}
