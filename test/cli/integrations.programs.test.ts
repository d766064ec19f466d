/** The hooks for pre-commit and the action for GitHub: their commands run as those programs run them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lines, PROGRAM, scratchFolder } from '../helpers/cli.js';

const scratch = scratchFolder();
const FILES = {
  accp: ['@a>req:x{k:01}', '@a>req:x{'],
  aacp: ['FECH|HR|return:HR-Agent|p:1|aacp:1.1', 'ACK'],
} as const;

beforeEach(() => {
  for (const [protocol, messages] of Object.entries(FILES)) scratch.write(`messages.${protocol}`, lines(...messages));
  // What npx would install.
  const program = PROGRAM.map((word) => `'${word}'`).join(' ');
  const shim = scratch.write(
    'npx',
    `#!/bin/sh\n[ "$1" = --yes ] && [ "$2" = pegwire@1.2.3 ] && shift 2 && exec ${program} "$@"\n`,
  );
  const own = scratch.write('pegwire', `#!/bin/sh\nexec ${program} "$@"\n`);
  for (const file of [shim, own]) chmodSync(file, 0o755);
});

const env = { ...process.env, PATH: `${scratch.path}${path.delimiter}${process.env['PATH']}` };

describe('the hooks', () => {
  interface Hook {
    readonly id: string;
    readonly entry: string;
    readonly files: string;
  }
  const hooks = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8')) as readonly Hook[];

  test.each(hooks.map((hook) => [hook.id, hook] as const))(
    '%s reads the files that it is for',
    (id, { entry, files }) => {
      const [file, ...others] = Object.keys(FILES)
        .map((protocol) => `messages.${protocol}`)
        .filter((name) => new RegExp(files).test(name));
      expect(others).toEqual([]);
      const { status, stdout, stderr } = spawnSync('sh', ['-c', `${entry} "$@"`, 'sh', file!], {
        cwd: scratch.path,
        env,
        encoding: 'utf8',
      });
      expect({ id, status }).toEqual({ id, status: 1 });
      expect(stdout + stderr).toContain(` --> ${file}:2:`);
    },
  );
});

describe('the action', () => {
  const { inputs, runs } = parse(readFileSync('action.yml', 'utf8')) as {
    readonly inputs: Readonly<Record<string, { readonly required?: boolean }>>;
    readonly runs: {
      readonly steps: readonly { readonly run: string; readonly env: Readonly<Record<string, string>> }[];
    };
  };
  const [step] = runs.steps;

  function run(values: Readonly<Record<string, string>>): { readonly status: number | null; readonly stdout: string } {
    const own = Object.entries(step!.env).map(([name, value]) => {
      const input = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(value)![1]!;
      expect(inputs).toHaveProperty(input);
      return [name, values[input] ?? ''] as const;
    });
    // As GitHub runs a step with the shell bash.
    const args = ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step!.run];
    return spawnSync('bash', args, {
      cwd: scratch.path,
      env: { ...env, ...Object.fromEntries(own) },
      encoding: 'utf8',
    });
  }

  test('annotates the lines with errors, of any number of files', () => {
    const { status, stdout } = run({
      protocol: 'accp',
      files: 'messages.accp *.nothing.accp',
      version: '1.2.3',
      canonical: 'false',
    });
    expect(status).toBe(2);
    expect(stdout).toBe('');
    const found = run({ protocol: 'accp', files: '. messages.accp', version: '1.2.3', canonical: 'true' });
    expect(found.status).toBe(1);
    expect(
      found.stdout
        .split('\n')
        .map((line) => /^::\w+ file=([^,]*),line=(\d+).*title=([\w-]+)::/.exec(line)?.slice(1, 4).join(' ') ?? ''),
    ).toEqual(['messages.accp 2 E1001', 'messages.accp 1 not-canonical', 'messages.accp 2 E1001', '']);
  });
});
