// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program of Node
/**
 * The program in which one call of a sandboxed tool is carried out. It is plain JavaScript: where it runs, nothing is compiled.
 * `messages.ts` has what is said on the pipe.
 */
import { rmSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { contextOf } from './context.mjs';
import { denyReach } from './denials.mjs';
import { bodyOf, errorOf } from './errors.mjs';
import { Parent } from './parent.mjs';

// Ends it at once; a tool may have replaced `process.exit`, and may listen to the end.
const end = /** @type {(code: number) => never} */ (Reflect.get(process, 'reallyExit').bind(process));
const { permission } = process;
const own = process.cwd();
const parent = new Parent(new net.Socket({ fd: 3, readable: true, writable: true }), () => {
  try {
    // Where the runtime was killed, nobody else does.
    rmSync(own, { recursive: true, force: true });
  } finally {
    end(1);
  }
});
denyReach();

process.on('uncaughtException', (error) => parent.say({ type: 'error', error: bodyOf(error) }));
parent.onRun = async (/** @type {import('./parent.mjs').Run} */ { module, input, context }) => {
  try {
    const tool = await load(module);
    parent.say({ type: 'result', value: await tool(input, contextOf(context, parent)) });
  } catch (error) {
    parent.say({ type: 'error', error: bodyOf(error) });
  }
};
const isRestricted = permission !== undefined && !permission.has('child') && !permission.has('worker');
parent.say({ type: 'ready', isRestricted });

/**
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
  throw errorOf({ code: 'FAILED_PRECONDITION', message: 'The module exports no function by default' });
}
