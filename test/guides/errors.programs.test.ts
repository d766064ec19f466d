/** Every error code has a page, and the example on it raises the error. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { sourceAliases } from '../helpers/source-aliases.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Section {
  /** The class, or the title of a group of diagnostics. */
  readonly group: string;
  readonly code: string;
  readonly text: string;
}

function sectionsOf(file: string): Section[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, (block) =>
    block.replaceAll(/^#/gm, '\u0000'),
  );
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const [head = '', ...sections] = part.split(/^### /m);
      const group = head.split('\n', 1)[0]!.replaceAll('`', '').trim();
      return sections.map((section) => ({
        group,
        code: section.split('\n', 1)[0]!.replaceAll('`', '').trim(),
        text: section.replaceAll('\u0000', '#'),
      }));
    });
}

const pages = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'ERRORS.md')
  .map((file) => path.posix.join('src', file.replaceAll(path.sep, '/')))
  .sort();

/** The codes of each exported error class whose type lists them. */
function declaredCodes(): ReadonlyMap<string, readonly string[]> {
  const entryPoints = Object.values(sourceAliases()).filter((file) => file.endsWith('.ts'));
  const { config } = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const program = ts.createProgram(entryPoints, ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options);
  const checker = program.getTypeChecker();
  const codes = new Map<string, readonly string[]>();
  for (const entry of entryPoints) {
    for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (!symbol.name.endsWith('Error') || (symbol.flags & ts.SymbolFlags.Class) === 0) continue;
      const code = checker.getDeclaredTypeOfSymbol(symbol).getProperty('code');
      if (code === undefined) continue;
      const type = checker.getTypeOfSymbol(code);
      const members = type.isUnion() ? type.types : [type];
      codes.set(
        symbol.name,
        members.flatMap((member) => (member.isStringLiteral() ? [member.value] : [])),
      );
    }
  }
  return codes;
}

test('every code of every error class has a section', () => {
  const written = new Set(pages.flatMap(sectionsOf).map(({ group, code }) => `${group} ${code}`));
  const missing = [...declaredCodes()].flatMap(([name, codes]) =>
    codes.map((code) => `${name} ${code}`).filter((section) => !written.has(section)),
  );
  expect(missing).toEqual([]);
  expect(written.size).toBeGreaterThan(150);
});

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-errors-'));
symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Imports the given programs, and prints the error and the output of each as JSON. */
const RUNNER = `
const print = process.stdout.write.bind(process.stdout);
process.on('uncaughtException', () => {});
for (const file of process.argv.slice(2)) {
  let output = '';
  console.log = console.error = console.warn = (...parts) => { output += parts.join(' ') + '\\n'; };
  const late = new Promise((resolve) => setTimeout(resolve, 10_000, { message: 'no end within 10 s' }).unref());
  const thrown = await Promise.race([import(file).then(() => ({}), (error) => error), late]);
  print(JSON.stringify({ name: thrown.name, code: thrown.code, reason: thrown.reason, message: thrown.message, output }) + '\\n');
}
process.exit();
`;

interface Outcome {
  readonly name?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly output: string;
}

describe.concurrent.each(pages)('%s', (page) => {
  const sections = sectionsOf(page);

  test('has an example and a fix for each code', ({ expect }) => {
    expect(sections.filter(({ text }) => !text.includes('**Fix:**')).map(({ code }) => code)).toEqual([]);
    expect(sections.filter(({ text }) => !/^```(?:ts|text|sh|json)\n/m.test(text)).map(({ code }) => code)).toEqual([]);
  });

  test('has examples that raise their errors', async ({ expect }) => {
    const examples = sections.flatMap(({ group, code, text }) => {
      const program = /^```ts\n([\s\S]*?)^```$/m.exec(text)?.[1];
      // A comment such as "errors[0].code: 'missing-return'" is about a finding that is returned and not thrown.
      const checked = program?.replaceAll(/^\/\/ (\S.*): '[^']+'$/gm, 'console.log($1);');
      return checked === undefined ? [] : [{ group, code, program: checked }];
    });
    const place = path.join(folder, page.replaceAll('/', '-'));
    mkdirSync(place);
    const files = await Promise.all(
      examples.map(async ({ program }, index) => {
        const outfile = path.join(place, `${index}.mjs`);
        await build({
          stdin: { contents: program, loader: 'ts', resolveDir: folder },
          ...{ outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', alias: sourceAliases() },
          logLevel: 'silent',
        });
        return outfile;
      }),
    );
    writeFileSync(path.join(place, 'run.mjs'), RUNNER);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['run.mjs', ...files], { cwd: place });
    const outcomes = stdout
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Outcome);
    expect(outcomes.length, stderr).toBe(examples.length);
    const wrong = examples.flatMap(({ group, code }, index) => {
      const { name, code: thrown, reason, message, output } = outcomes[index]!;
      const raised = name === group && (thrown === code || reason === code);
      const listed = name === undefined && output.split(/[\s"',]+/).includes(code);
      return raised || listed ? [] : [{ group, code, got: `${name} ${thrown}: ${message}`, output }];
    });
    expect(wrong).toEqual([]);
  }, 120_000);
});
