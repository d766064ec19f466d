/** The programs of this folder as shell commands. */
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** A program of this folder, run by Node; `.ts` through tsx. */
export function programCommand(file: string, ...args: readonly string[]): string {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : [];
  return [process.execPath, ...loader, program, ...args].map((word) => `"${word}"`).join(' ');
}

/** The adapter that performs an action on texts with a word. */
export function adapterCommand(...actions: readonly (readonly [word: string, action: string])[]): string {
  return programCommand('adapter.mjs', ...actions.flatMap(([word, action]) => ['--on', word, action]));
}
