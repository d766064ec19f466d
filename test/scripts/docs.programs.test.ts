import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { markdownFiles, ROOT } from '../../scripts/docs/repository.js';
import { COMMANDS } from '../../src/cli/commands/index.js';
import { ended, start } from '../helpers/child.js';

const SITE = `${ROOT}docs-dist/`;

const hasPage = (path: string) => existsSync(`${SITE}${path}/index.html`);

/** The pages that the error files ask for: a class in each heading of the second level, a code in each of the third. */
async function errorPaths(): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const file of markdownFiles().filter((name) => name.endsWith('/ERRORS.md'))) {
    let errorClass = '';
    for (const [, level, name = ''] of (await readFile(`${ROOT}${file}`, 'utf8')).matchAll(
      /^(##|###) `?([^`\n]+)`?$/gm,
    )) {
      if (level === '##')
        errorClass = name
          .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
          .replaceAll(' ', '-')
          .toLowerCase();
      paths.push(level === '##' ? `errors/${errorClass}` : `errors/${errorClass}/${name}`);
    }
  }
  return paths;
}

/** The text of the search index. */
async function searchIndex(): Promise<string> {
  const chunks = `${SITE}assets/chunks/`;
  const file = (await readdir(chunks)).find((name) => name.startsWith('@localSearchIndex'));
  return readFile(`${chunks}${file}`, 'utf8');
}

describe('the documentation site', () => {
  beforeAll(async () => {
    const program = start(['npm', 'run', '--silent', 'docs'], { cwd: ROOT, env: { NODE_ENV: 'production' } });
    const { code, stderr } = await ended(program);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  }, 600_000);

  test('has a page for each error, which search finds', async () => {
    const paths = await errorPaths();
    const index = await searchIndex();
    expect(paths.filter((path) => !hasPage(path) || !index.includes(`/${path}/#`))).toEqual([]);
  });

  test('has a page for each command', () => {
    const paths = COMMANDS.flatMap((entry) => [
      `cli/${entry.name}`,
      ...('commands' in entry ? entry.commands.map(({ name }) => `cli/${entry.name}/${name}`) : []),
    ]);
    expect(paths.filter((path) => !hasPage(path))).toEqual([]);
  });

  test('has a page for each entry point', async () => {
    const { exports } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as {
      exports: Record<string, unknown>;
    };
    const names = Object.keys(exports).filter((name) => typeof exports[name] === 'object');
    const paths = names.map((name) => (name === '.' ? 'api/pegwire' : `api/${name.slice(2)}`));
    expect(paths.filter((path) => !hasPage(path))).toEqual([]);
  });

  test('has a page for each guide', () => {
    const guides = markdownFiles().filter((file) => /^(src|test\/examples)\/.+\/README\.md$/.test(file));
    const written = new Set(guides.map((file) => file.split('/').slice(1, -1).join('/').replace('examples/', '')));
    const missing = [...written].filter((name) => {
      return !['guides', 'protocols', 'project/source'].some((section) => hasPage(`${section}/${name}`));
    });
    expect(missing).toEqual([]);
  });
});
