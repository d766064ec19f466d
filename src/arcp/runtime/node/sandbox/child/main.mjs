// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program for Node
/**
 * The program that executes one call of a sandboxed tool. It is plain JavaScript, since nothing is compiled where it runs. `call.ts` defines the
 * messages on the pipe.
 */
import { rmSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { contextOf } from './context.mjs';
import { denyReach } from './denials.mjs';
import { bodyOf, errorOf } from './errors.mjs';
import { Parent } from './parent.mjs';

// Ends the process at once. A tool may have replaced `process.exit`, and may listen to its events.
const end = /** @type {(code: number) => never} */ (Reflect.get(process, 'reallyExit').bind(process));
const { permission } = process;
const own = process.cwd();
const parent = new Parent(new net.Socket({ fd: 3, readable: true, writable: true }), () => {
  try {
    // If the runtime was killed, it cannot delete the folder.
    rmSync(own, { recursive: true, force: true });
  } finally {
    end(1);
  }
});
denyReach();

process.on('uncaughtException', (error) => parent.send({ type: 'error', error: bodyOf(error) }));
parent.onRun = async (/** @type {import('./parent.mjs').Run} */ { module, input, context }) => {
  try {
    const tool = await load(module);
    parent.send({ type: 'result', value: await tool(input, contextOf(context, parent)) });
  } catch (error) {
    parent.send({ type: 'error', error: bodyOf(error) });
  }
};
const isRestricted = permission !== undefined && !permission.has('child') && !permission.has('worker');
parent.send({ type: 'ready', isRestricted });

/**
 * Imports the tool.
 *
 * @param {string} module
 * @returns {Promise<(input: unknown, context: unknown) => unknown>}
 */
async function load(module) {
  let tool;
  try {
    tool = (await import(pathToFileURL(module).href)).default;
  } catch (error) {
    const body = bodyOf(error);
    if (body.code === 'PERMISSION_DENIED') throw error;
    throw errorOf({ code: 'FAILED_PRECONDITION', message: `The module cannot be loaded: ${body.message}` });
  }
  if (typeof tool === 'function') return tool;
  throw errorOf({ code: 'FAILED_PRECONDITION', message: 'The default export of the module must be a function' });
}
