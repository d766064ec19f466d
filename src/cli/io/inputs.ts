/** The files that arguments name: files, folders and patterns. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import ignore from 'ignore';
import { glob, isDynamicPattern } from 'tinyglobby';
import type { Protocol } from '../protocols.js';
import { notReadable, UsageError, unreadable } from './errors.js';
import { inputName, type Source } from './input.js';
import { labelled } from './output.js';
import { noteFault, type Reporting } from './report.js';

/** A list of files to leave out, in the syntax of `.gitignore`, in the current folder. */
const IGNORE_FILE = '.pegwireignore';
const NEVER = ['**/node_modules/**', '**/.git/**'];

export interface Named extends Reporting, Pick<Source, 'stdin'> {
  readonly protocol: Protocol;
  /** The arguments that name the input; none for stdin. */
  readonly files: readonly string[];
  /** If true, a folder stands for the files of {@link TEXT_FILES} in it. @default those that end in the name of the protocol */
  readonly isAnyText?: boolean;
}

/** The ends of files whose texts may contain messages. */
const TEXT_FILES =
  'accp aacp md mdx markdown rst txt log json jsonl ndjson yaml yml toml csv html xml ts tsx mts cts js jsx mjs cjs py rb go rs java kt cs php sh ipynb'.split(
    ' ',
  );

/**
 * Runs a command for each file that the arguments name. A file that cannot be read does not keep the others from being read.
 *
 * @param fault reports a file that cannot be read. @default prints the error; that of the only file is thrown
 * @returns the highest exit code
 * @throws UsageError if the only file cannot be read, or an argument names no file
 */
export async function forEachInput<I extends Named>(
  invocation: I,
  handle: (one: I) => Promise<number>,
  fault?: (file: string, error: UsageError) => Promise<void>,
): Promise<number> {
  const files = await inputFiles(invocation);
  const isOneOfMany = files.length > 1;
  const showFiles = invocation.output.bar(`${files.length} files`);
  let exitCode = 0;
  for (const [done, file] of files.entries()) {
    if (isOneOfMany) showFiles(done, files.length);
    try {
      exitCode = Math.max(exitCode, await handle({ ...invocation, file, isNamed: file !== undefined, isOneOfMany }));
    } catch (thrown) {
      if (!(thrown instanceof UsageError) || thrown.code !== 'unreadable') throw thrown;
      if (fault !== undefined) await fault(inputName({ file }), thrown);
      else if (isOneOfMany) await noteFault(invocation, thrown);
      else throw thrown;
      exitCode = 2;
    }
  }
  return exitCode;
}

/** Returns the files, each once; `undefined` is stdin. @throws UsageError if an argument names none */
export async function inputFiles(invocation: Named): Promise<readonly (string | undefined)[]> {
  const { files, protocol, output, json, isAnyText = false } = invocation;
  if (files.length === 0) return [undefined];
  /** By their place, since several names may be those of one file. */
  const found = new Map<string, string | undefined>();
  const isIgnored = ignoredBy(IGNORE_FILE);
  for (const word of files) {
    if (word === '-') {
      found.set('', undefined);
      continue;
    }
    const named = await filesOf(word, isAnyText ? TEXT_FILES : [protocol.name]);
    const own = named.filter((file) => !isIgnored(file));
    for (const file of own) {
      const place = existsSync(file) ? realpathSync(file) : file;
      if (!found.has(place)) found.set(place, file);
    }
    if (own.length === 0 && !json)
      await output.note(labelled('note', 'ignored', `${word} is in ${IGNORE_FILE}.`, output.paintNote));
  }
  return [...found.values()];
}

/**
 * Returns the files that one argument names. A name that is also a pattern is a name if such a file exists.
 *
 * @param ends the ends of the files that a folder stands for
 */
async function filesOf(word: string, ends: readonly string[]): Promise<readonly string[]> {
  // What cannot be looked at is reported when it is read.
  const isFolder = existsSync(word) && statSync(word).isDirectory();
  const isPattern = !existsSync(word) && isDynamicPattern(word);
  if (!isFolder && !isPattern) return [word];
  const patterns = isFolder ? ends.map((end) => `**/*.${end}`) : [word];
  const found = await glob(patterns, {
    cwd: isFolder ? word : '.',
    dot: true,
    ignore: NEVER,
    expandDirectories: false,
  });
  if (found.length === 0)
    throw notReadable(word, isFolder ? `it has no file that ends in .${ends.join(', .')}` : 'no file matches');
  return found.sort().map((file) => (isFolder ? path.join(word, file) : file));
}

/** Returns a function that reports whether a file is listed in an ignore file. Its patterns are relative to the current folder. */
function ignoredBy(ignoreFile: string): (file: string) => boolean {
  if (!existsSync(ignoreFile)) return () => false;
  let rules: string;
  try {
    rules = readFileSync(ignoreFile, 'utf8');
  } catch (thrown) {
    throw unreadable(thrown, ignoreFile);
  }
  const list = ignore().add(rules);
  return (file) => {
    const relative = path.relative('.', file).split(path.sep).join('/');
    return ignore.isPathValid(relative) && list.ignores(relative);
  };
}
