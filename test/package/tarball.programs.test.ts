import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = process.cwd();
const scratch = mkdtempSync(path.join(tmpdir(), 'pegwire-scratch-'));
const installed = path.join(scratch, 'node_modules/pegwire');
const tsc = path.join(root, 'node_modules/@typescript/native/bin/tsc');

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', scratch], root);
  const tarball = readdirSync(scratch).find((file) => file.endsWith('.tgz'))!;
  cpSync(path.join(root, 'test/package/scratch/use.ts'), path.join(scratch, 'use.ts'));
  const config = readFileSync(path.join(root, 'test/package/scratch/tsconfig.json'), 'utf8');
  writeFileSync(
    path.join(scratch, 'tsconfig.json'),
    config.replace('TYPE_ROOTS', path.join(root, 'node_modules/@types')),
  );
  writeFileSync(path.join(scratch, 'package.json'), JSON.stringify({ name: 'scratch', private: true, type: 'module' }));
  install(`./${tarball}`);
  bare = inspectBare();
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  install(...PEERS.map((name) => `${name}@${devDependencies[name]}`));
}, 240_000);

/** Optional peers that commands of the documents need. */
const PEERS = ['@photostructure/sqlite', '@toon-format/toon', 'gpt-tokenizer'] as const;

function install(...packages: readonly string[]): void {
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], scratch);
}

/** The installation and its output without optional peers. */
interface Bare {
  readonly packages: readonly string[];
  readonly bytes: number;
  readonly scripts: readonly string[];
  readonly outputs: Readonly<
    Record<
      'check' | 'estimate' | 'exact' | 'mcp' | 'file' | 'lsp',
      { readonly code: number | null; readonly stderr: string }
    >
  >;
}

let bare: Bare;

/** Starts the language server, and ends it as an editor does; its answers are in `stderr`. */
function languageServer(): Bare['outputs']['lsp'] {
  const params = { processId: null, rootUri: null, capabilities: {} };
  const messages = [{ id: 1, method: 'initialize', params }, { id: 2, method: 'shutdown' }, { method: 'exit' }];
  const input = messages
    .map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }))
    .map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`)
    .join('');
  const command = path.join(installed, 'dist/src/cli/main.js');
  const { status, stdout } = spawnSync(process.execPath, [command, 'lsp'], { input, encoding: 'utf8' });
  return { code: status, stderr: stdout };
}

function inspectBare(): Bare {
  const modules = path.join(scratch, 'node_modules');
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lock = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  const frame = '@planner>req:schedule{task:impl_auth}[mid:m1,seq:1]\n';
  const pegwire = (...args: readonly string[]): Bare['outputs']['check'] => {
    const command = path.join(installed, 'dist/src/cli/main.js');
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], {
      cwd: scratch,
      input: frame,
      encoding: 'utf8',
    });
    return { code: status, stderr };
  };
  const script = `import { sqliteStore } from 'pegwire/accp/sqlite';
    await sqliteStore('bare.db').then(() => console.error('opened'), ({ code, message }) => console.error(code, message));`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: scratch,
    encoding: 'utf8',
  });
  return {
    packages: readdirSync(modules).filter((name) => !name.startsWith('.')),
    bytes: files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0),
    scripts: Object.entries(lock.packages).flatMap(([name, { hasInstallScript }]) => (hasInstallScript ? [name] : [])),
    outputs: {
      check: pegwire('check', 'accp'),
      estimate: pegwire('tokens'),
      exact: pegwire('tokens', '--encoding', 'o200k_base'),
      mcp: pegwire('arcp', 'serve', '--ws', '0', '--mcp', 'true'),
      file: { code: status, stderr },
      lsp: languageServer(),
    },
  };
}

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('pegwire playground serves the page, and the tables of the installed tokenizer', async () => {
  const child = spawn(
    process.execPath,
    [path.join(installed, 'dist/src/cli/main.js'), 'playground', '--port', '0', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { readonly url: string };
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe-eval|unsafe-inline/);
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())![1]!;
    expect((await fetch(url + script)).headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(await (await fetch(`${url}tokenizers/p50k_base.js`)).text()).toContain('export');
    expect((await fetch(`${url}../package.json`)).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

test('a project that installs the package type-checks and runs', () => {
  run(process.execPath, [tsc, '-p', '.'], scratch);
  expect(JSON.parse(run(process.execPath, ['use.js'], scratch))).toEqual([
    'launch',
    true,
    'E1004 payload.goal',
    true,
    'array of 2 0',
    '@a>b:c{k:\\@dev}',
    'A',
    'ACK',
    'empty-field',
    'did you mean "FETCH"?',
    false,
    4,
    'ACK|HR|return:A',
    ...[true, true, true, true],
  ]);
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

/** Returns the documents of the installed package. */
function documents(): { readonly file: string; readonly text: string }[] {
  return readdirSync(installed, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file: file.replaceAll(path.sep, '/'), text: readFileSync(path.join(installed, file), 'utf8') }));
}

/** Returns the anchors of a document's headings, as GitHub generates them. */
function anchors(text: string): Set<string> {
  const seen = new Map<string, number>();
  const names = [...withoutCode(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, title]) => {
    const words = title!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const name = words
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
  return new Set(names);
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** Returns the links and images in Markdown and HTML. */
function links(text: string): string[] {
  const prose = withoutCode(text).replace(/`[^`\n]*`/g, (code) => (code.includes('](') ? '' : code));
  const found = prose.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]: *(\S+)|(?:src|href|srcset)="([^"]+)"/gm);
  return [...found].map(([, inline, reference, html]) => (inline ?? reference ?? html)!);
}

test('the links in its documents lead to files in the package', () => {
  const all = documents();
  expect(all.map(({ file }) => file)).toEqual(
    expect.arrayContaining(['README.md', 'CHANGELOG.md', 'src/arcp/README.md']),
  );
  let checked = 0;
  const dead = all.flatMap(({ file, text }) =>
    links(text)
      .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
      .filter((link) => {
        checked++;
        const [place, anchor] = link.split('#') as [string, string?];
        const target = place === '' ? file : path.posix.join(path.posix.dirname(file), decodeURI(place));
        if (target.startsWith('..') || !existsSync(path.join(installed, target))) return true;
        return anchor !== undefined && !anchors(readFileSync(path.join(installed, target), 'utf8')).has(anchor);
      })
      .map((link) => `${file}: ${link}`),
  );
  expect(dead).toEqual([]);
  expect(checked).toBeGreaterThan(50);
});

test('its manifest has the repository, home page and issue tracker', () => {
  const manifest = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({
    repository: { type: 'git', url: 'git+https://github.com/pegwire/pegwire.git' },
    homepage: 'https://github.com/pegwire/pegwire#readme',
    bugs: 'https://github.com/pegwire/pegwire/issues',
  });
});

/** The README and the guides by task, which a reader follows from the first line to the last. */
const GUIDES = [
  'README.md',
  ...readdirSync(path.join(root, 'test/examples'))
    .map((name) => `test/examples/${name}/README.md`)
    .filter((file) => existsSync(path.join(root, file))),
];

describe('a reader who follows', () => {
  /** `npx` runs the installed package, and `npm` does nothing, since everything is installed. */
  const PRELUDE = 'npx() { "$@"; }\nnpm() { :; }\n';
  const environment = () => ({
    ...process.env,
    PATH: [path.join(scratch, 'node_modules/.bin'), process.env['PATH']].join(':'),
  });
  /** Commands that are expected to fail. */
  const FAILING = /--target|--crash/;

  test.skipIf(process.platform === 'win32').each(GUIDES)(
    '%s gets the output that it shows',
    (file) => {
      const folder = mkdtempSync(path.join(scratch, 'reader-'));
      symlinkSync(path.join(scratch, 'node_modules'), path.join(folder, 'node_modules'));
      const text = readFileSync(path.join(installed, file), 'utf8');
      const blocks = text.matchAll(/(?:as `([\w.-]+)`[^\n]*:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm);
      let output = '';
      let compared = 0;
      for (const [, name, language, content = ''] of blocks) {
        if (name !== undefined) writeFileSync(path.join(folder, name), content);
        if (name !== undefined && file !== 'README.md')
          expect(content, `${name} as shown in ${file}`).toBe(
            readFileSync(path.join(installed, path.dirname(file), name), 'utf8'),
          );
        if (language === 'sh') {
          output = '';
          for (const line of content.split('\n').filter((line) => line !== '' && !line.startsWith('npm ci'))) {
            const { status, stdout, stderr } = spawnSync('bash', ['-c', PRELUDE + line], {
              ...{ cwd: folder, env: environment(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
            });
            if (!FAILING.test(line)) expect(status, `${line}\n${stderr}`).toBe(0);
            output += stdout;
          }
        }
        if (language === 'text') {
          // "..." stands for the rest of a line, and on a line of its own for any lines.
          const pattern = content
            .replaceAll(/[\\^$*+?()[\]{}|]/g, '\\$&')
            .replaceAll(/^\.{3}\n/gm, '[\\s\\S]*')
            .replaceAll('...', '[^\\n]*');
          expect(output).toMatch(new RegExp(`^${pattern}$`));
          compared += 1;
        }
      }
      if (file === 'README.md') {
        const [, shown] = /^```\n([\s\S]*?)^```$/m.exec(text)!;
        expect(run(process.execPath, ['first.mjs'], folder)).toContain(shown);
      }
      if (file !== 'README.md') expect(compared).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe('the commands of its documents', () => {
  /** Documents about a checkout of the repository, and those that the test above follows. */
  const CHECKOUT = ['CONTRIBUTING.md', 'bench/README.md', 'bench/results/tokens.md', ...GUIDES];
  /** The reader's files in the documents. */
  const READER_FILES: Readonly<Record<string, string>> = {
    'frames.txt': '@planner>req:schedule{task:impl_auth}[mid:m1,seq:1]\n',
    'my-frames.txt': '@planner>req:schedule{task:impl_auth}\n',
    'packets.txt': 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary\n',
    'transcript.md': 'Then came `@planner>req:schedule{task:impl_auth}`.\n',
    'messages.jsonl': '{"intent":"req","operation":"find","payload":{"query":"cats"}}\n',
    'messages.txt': '@planner>req:schedule{task:impl_auth}\nPlease find all cats.\n',
    'grammar.peggy': 'start = [a-z]+ "!"\n',
    'my-grammar.peggy': 'start = [a-z]+ "!"\n',
    'audit.jsonl': '',
    'my-parser': '#!/bin/sh\nexec python3 my_adapter.py\n',
    'bin/my-agent': `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, 'test/fixtures/minimal-agent.mjs')}"\n`,
  };
  /** Returns the commands in the documents, in order; servers run in the background. */
  const commands = (): { readonly line: string; readonly serves: boolean }[] =>
    documents()
      .filter(({ file }) => !CHECKOUT.includes(file))
      .flatMap(({ text }) => [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.split('\n')))
      .filter((line) => line !== '' && !/^npm (?:ci|test|run) ?/.test(line))
      .map((line) => ({
        line,
        serves: /^npx pegwire (?:(?:arcp )?serve|acp run --listen|playground|inspect)/.test(line),
      }));
  /** `npx` runs the installed package, and `npm` accepts the installation of the package only. */
  const PRELUDE = `npx() { "$@"; }
npm() { [ "$*" = 'install pegwire' ]; }
set -m
trap 'for job in $(jobs -p); do kill -- -$job; done' EXIT
`;

  test.skipIf(process.platform === 'win32')(
    'run one after the other',
    async () => {
      // The ports in the documents may be in use.
      const ports = new Map<string, string>();
      for (const port of ['4711', '4712', '7777', '8080']) ports.set(port, await freePort());
      mkdirSync(path.join(scratch, 'bin'));
      for (const [name, content] of Object.entries(READER_FILES))
        writeFileSync(path.join(scratch, name), content, { mode: 0o755 });
      cpSync(path.join(installed, 'test/examples/adapters/python_adapter.py'), path.join(scratch, 'my_adapter.py'));
      const all = commands();
      const script = all.map(({ line: written, serves }, index) => {
        const line = written.replace(/\b(?:4711|4712|7777|8080)\b/g, (port) => ports.get(port)!);
        const output = `output-${index}`;
        return serves
          ? `{\n${line}\n} </dev/null >${output} 2>&1 &\nfor _ in $(seq 200); do grep -q :// ${output} && break; sleep 0.1; done\necho 0 >code-${index}\n`
          : `{\n${line}\n} </dev/null >${output} 2>&1\necho $? >code-${index}\n`;
      });
      writeFileSync(path.join(scratch, 'commands.sh'), PRELUDE + script.join(''));
      execFileSync('bash', ['commands.sh'], {
        cwd: scratch,
        stdio: 'ignore',
        env: {
          ...process.env,
          PATH: [path.join(scratch, 'node_modules/.bin'), path.join(scratch, 'bin'), process.env['PATH']].join(':'),
          PEGWIRE_DATA_DIR: path.join(scratch, 'data'),
        },
      });
      const result = all.map(({ line }, index) => ({
        line,
        code: Number(readFileSync(path.join(scratch, `code-${index}`), 'utf8')),
        output: readFileSync(path.join(scratch, `output-${index}`), 'utf8').slice(-500),
      }));
      // A tested program may fail: the adapter for AACP is also used for ACCP.
      const failed = result.filter(({ line, code }) => code !== 0 && !(code === 1 && line.includes('--target')));
      expect(failed).toEqual([]);
      expect(result.length).toBeGreaterThan(5);
    },
    240_000,
  );
});

test('its files are what an importer needs, and nothing else', () => {
  expect(readdirSync(installed).sort()).toEqual([
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'VERSIONING.md',
    'bench',
    'dist',
    'grammar',
    'llms.txt',
    'package.json',
    'src',
    'test',
  ]);
  expect(readdirSync(path.join(installed, 'test')).sort()).toEqual(['conformance', 'examples']);
});

describe('without optional peers', () => {
  test('the installation is below 17.5 MB and runs no scripts', () => {
    expect(bare.scripts).toEqual([]);
    expect(bare.bytes).toBeLessThan(17_500_000);
    expect([...bare.packages].sort()).toEqual([
      // Hashes; Peggy and acorn, for the plugin, with the dependencies of Peggy; stemming, diagrams, schemas, servers and their events;
      // patterns of file names for the command line.
      ...[
        '@noble',
        '@peggyjs',
        '@remix-run',
        '@sveltejs',
        'acorn',
        'commander',
        'eventsource-parser',
        'fdir',
        'ignore',
        'moo',
        'peggy',
        'pegwire',
        'picomatch',
        'railroad-diagrams',
      ],
      ...['semver', 'source-map-generator', 'stemmer', 'tinyglobby', 'ws', 'zod'],
    ]);
  });

  test('commands run, and counts are estimates', () => {
    const { check, estimate } = bare.outputs;
    expect(check).toEqual({ code: 0, stderr: expect.any(String) });
    expect(estimate.code).toBe(0);
    expect(estimate.stderr).toContain('Estimated (for exact counts: npm install gpt-tokenizer)');
    expect(estimate.stderr).toContain('(npm install @toon-format/toon)');
  });

  test('an exact count fails with the name of the package to install', () => {
    const { code, stderr } = bare.outputs.exact;
    expect(code).toBe(2);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /requires the package gpt-tokenizer for exact counts: npm install gpt-tokenizer\.$/,
    );
  });

  test('an MCP server fails with the name of the package to install', () => {
    const { code, stderr } = bare.outputs.mcp;
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /--mcp requires the package @modelcontextprotocol\/client: npm install @modelcontextprotocol/,
    );
  });

  test('a database file opens with the driver of Node, or fails with the name of the package to install', () => {
    const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
    const hasDriver = major > 22 || (major === 22 && minor >= 15);
    expect(bare.outputs.file.stderr).toMatch(
      hasDriver
        ? /^opened\n$/
        : /^store-no-driver \S+bare\.db cannot be opened: .*npm install @photostructure\/sqlite.*\n$/,
    );
  });

  test('the language server runs without further packages', () => {
    const { code, stderr: answers } = bare.outputs.lsp;
    expect(code).toBe(0);
    expect(answers).toContain('"serverInfo":{"name":"pegwire"');
  });
});
