/** Child processes in which optional packages are not installed. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

/** Runs a module in a child process, and returns its output. */
export function runWithout(packages: readonly string[], program: string, input = ''): string {
  const missing = `export async function resolve(name, context, next) {
    if (!${JSON.stringify(packages)}.some((one) => name === one || name.startsWith(one + '/'))) return next(name, context);
    throw Object.assign(new Error('missing'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
  const hide = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(missing))});`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const args = ['--import', tsx, '--import', dataUrl(hide), '--input-type=module', '-e', program];
  return execFileSync(process.execPath, args, { input }).toString();
}

/** Returns the URL of a file in the project as a string literal. */
export function moduleAt(path: string): string {
  return JSON.stringify(new URL(`../../${path}`, import.meta.url).href);
}

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;
}
