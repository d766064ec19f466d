/** The completion scripts in real shells. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cli, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0;
}

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await cli(['completion', shell]);
  expect(code).toBe(0);
  return scratch.write(shell === 'zsh' ? '_pegwire' : `pegwire.${shell}`, stdout);
}

function lines({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string[] {
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** Returns what can follow, in each shell. */
const FOLLOWING: Readonly<Record<string, (script: string, words: readonly string[]) => string[]>> = {
  bash: (script, words) => {
    const run = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pegwire; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return lines(spawnSync('bash', ['-c', run, 'bash', 'pegwire', ...words], { encoding: 'utf8', cwd: scratch.path }));
  },
  zsh: (script, words) => {
    const run =
      `_describe() { eval "print -l -- \\"\\\${(@)$2%%:*}\\"" }; _files() { print -l -- * }; ` +
      `words=("$@"); CURRENT=$#; source ${script}`;
    const found = lines(
      spawnSync('zsh', ['-f', '-c', run, 'zsh', 'pegwire', ...words], { encoding: 'utf8', cwd: scratch.path }),
    );
    return found.filter((word) => word.startsWith(words.at(-1)!));
  },
  fish: (script, words) => {
    const line = ['pegwire', ...words].join(' ');
    const run = `source ${script}; complete -C ${JSON.stringify(line)}`;
    const found = lines(spawnSync('fish', ['--no-config', '-c', run], { encoding: 'utf8', cwd: scratch.path }));
    return found.map((one) => one.split('\t')[0]!);
  },
};

for (const shell of ['bash', 'zsh', 'fish']) {
  const hint = isInstalled(shell) ? '' : ` (skipped: ${shell} is missing; Debian has it as ${shell})`;
  test.skipIf(hint !== '')(`complete command lines in ${shell}${hint}`, async () => {
    const script = await scriptFor(shell);
    scratch.write('frames.accp', '');
    const following = (...words: string[]): string[] => FOLLOWING[shell]!(script, words).sort();
    expect(following('pa')).toEqual(['parse']);
    expect(following('registry', '')).toContain('learn');
    expect(following('arcp', 'se')).toEqual(['serve']);
    expect(following('parse', 'a')).toEqual(['aacp', 'accp']);
    expect(following('fmt', 'accp', '--wr')).toEqual(['--write']);
    expect(following('arcp', 'serve', '--tls-k')).toEqual(['--tls-key']);
    expect(following('check', 'accp', '--format', '')).toEqual(
      expect.arrayContaining(['sarif', 'github', 'junit', 'text']),
    );
    expect(following('check', 'accp', '--format', '')).not.toContain('frames.accp');
    expect(following('check', 'accp', 'fr')).toEqual(['frames.accp']);
  });
}

test('requires a known shell', async () => {
  for (const args of [[], ['tcsh'], ['bash', 'zsh']]) {
    const { code, stderr } = await cli(['completion', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain('completion requires the name of a shell: bash, zsh or fish');
  }
});
