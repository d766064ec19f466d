/**
 * Writes the parsers in generated/ from the grammars in grammar/, and the grammars that tools compile as a module; with --check,
 * compares them with what is there.
 *
 *     npm run generate
 *     npm run generate:check
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import peggy from 'peggy';
import fast from '../src/peggy-fast/peggy-plugin.js';

interface Target {
  readonly name: string;
  /** Start rule to the TypeScript type of its result, as an import from generated/. */
  readonly returnTypes: Readonly<Record<string, string>>;
  /** Type of the options that the grammar reads. */
  readonly options: string;
  /** Type of the `reason` that its errors may carry. */
  readonly reasons: string;
  /** Rules whose texts are few and come often. */
  readonly words: readonly string[];
  /** Whether the grammar's code reads the codes of what was matched and no others, and that is ASCII. */
  readonly readsMatched: boolean;
  /** What the grammar's code uses and that does nothing which another parse could see. */
  readonly pure: readonly string[];
}

const TARGETS: readonly Target[] = [
  {
    name: 'accp',
    returnTypes: {
      frame: "import('../src/accp/ast.js').Frame",
      envelope: "import('../src/accp/ast.js').FrameEnvelope",
    },
    options: `  /** Which dialect to read. @default "strict" */
  dialect?: 'strict' | 'lenient' | undefined;
  /** Put a \`span\` on every node. @default false */
  spans?: boolean | undefined;
  /** Deepest nesting of arrays and maps in one value. @default 5 */
  maxDepth?: number | undefined;
  /** Most parameters, map entries and array items in all. @default 100000 */
  maxItems?: number | undefined;
  /** Most digits of one number. @default 1000 */
  maxDigits?: number | undefined;`,
    reasons: "'limit' | 'duplicate-key'",
    words: ['agent_id', 'intent', 'operation', 'key'],
    readsMatched: true,
    // BigInt raises on what is no integer; only digits get there. The others are scratch memory.
    pure: ['BigInt', 'keys', 'past', 'codes'],
  },
  {
    name: 'aacp',
    returnTypes: { packet: "import('../src/aacp/ast.js').Packet" },
    options: `  /** Which dialect to read. @default "strict" */
  dialect?: 'strict' | 'tolerant' | undefined;
  /** Put a \`span\` on every node. @default false */
  spans?: boolean | undefined;
  /** Most fields. @default 100000 */
  maxItems?: number | undefined;`,
    reasons: "'limit'",
    words: ['task', 'dom', 'key'],
    readsMatched: false,
    pure: [],
  },
  {
    name: 'abnf',
    returnTypes: { rulelist: "import('../src/grammar-export/abnf/ast.js').AbnfGrammar" },
    options: `  /** Put a \`span\` on rules and references. @default false */
  spans?: boolean | undefined;
  /** Deepest nesting of groups and options. @default 200 */
  maxDepth?: number | undefined;`,
    reasons: "'limit'",
    words: [],
    readsMatched: false,
    pure: [],
  },
  {
    name: 'instruction',
    returnTypes: { instruction: "readonly import('../src/aacp/matching/instruction/ast.js').InstructionItem[]" },
    options: '',
    reasons: 'never',
    words: [],
    readsMatched: false,
    pure: ['monthOf', 'isDay', 'dayAndMonth', 'ordinalOf', 'NUMBERS', 'ORDINALS', 'DOLLARS', 'spanNode'],
  },
];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

interface PeggyCli {
  parseAsync(args: readonly string[], options: { from: 'user' }): Promise<unknown>;
  main(): Promise<number>;
}
const { PeggyCLI } = require('peggy/bin/peggy-cli.js') as { PeggyCLI: new () => PeggyCli };

/** Runs Peggy on one grammar and returns the parser and its types as texts. */
async function generate(target: Target, folder: string): Promise<Map<string, string>> {
  const source = `grammar/${target.name}.peggy`;
  const parser = peggy.generate(await readFile(path.join(root, source), 'utf8'), {
    grammarSource: source,
    format: 'es',
    output: 'source',
    allowedStartRules: Object.keys(target.returnTypes),
    plugins: [fast],
    fast: {
      standalone: true,
      recognize: true,
      intern: target.words,
      readsMatched: target.readsMatched,
      pure: target.pure,
      onNotice: (message) => {
        throw new Error(`${source}: ${message}`);
      },
    },
  });
  const banner = `// Made from ${source} by \`npm run generate\`. Do not edit.\n`;
  return new Map([
    [`${target.name}.js`, banner + parser],
    [`${target.name}.d.ts`, banner + withOptions(await typesOf(target, source, folder), target)],
  ]);
}

/** Types are a feature of Peggy's command line, not of its API. */
async function typesOf(target: Target, source: string, folder: string): Promise<string> {
  const output = path.join(folder, `${target.name}.js`);
  const cli = new PeggyCLI();
  const args = ['--format', 'es', '--dts', '--allowed-start-rules', Object.keys(target.returnTypes).join(',')];
  args.push('--return-types', JSON.stringify(target.returnTypes), '--output', output, path.join(root, source));
  await cli.parseAsync(args, { from: 'user' });
  const exitCode = await cli.main();
  if (exitCode !== 0) throw new Error(`Peggy refused ${source} (exit code ${exitCode})`);
  return readFile(output.replace(/\.js$/, '.d.ts'), 'utf8');
}

/**
 * Four things that Peggy's types leave open: what the plugin adds; options are an open record, so that a misspelt one compiles; `expected` is
 * null in errors raised by actions; and such errors carry a reason.
 */
function withOptions(types: string, target: Target): string {
  const edits: readonly (readonly [before: string, after: string])[] = [
    ['  // Extra application-specific properties\n  [key: string]: unknown;', target.options],
    [
      '  readonly expected: Expectation[];',
      `  /** What could have stood there; null where \`reason\` is set. */
  readonly expected: Expectation[] | null;
  /** Why a well-formed text is refused all the same. */
  readonly reason?: ${target.reasons};`,
    ],
    [
      'export declare class SyntaxError',
      `/** Whether parse() would accept the input, by the same grammar and limits; builds nothing. */
export declare function recognize(input: string, options?: ParseOptions<StartRuleNames>): boolean;

export declare class SyntaxError`,
    ],
  ];
  return edits.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`Peggy's type declarations have changed: no "${before}"`);
    return text.replace(before, after);
  }, types);
}

/** The grammars that tools compile, as a module: so they work where there are no files. */
async function grammarTexts(): Promise<Map<string, string>> {
  const constants: string[] = [];
  const types: string[] = [];
  for (const name of ['accp', 'aacp']) {
    const text = await readFile(path.join(root, `grammar/${name}.peggy`), 'utf8');
    constants.push(`export const ${name} = ${JSON.stringify(text)};\n`);
    types.push(`/** The text of grammar/${name}.peggy. */\nexport declare const ${name}: string;\n`);
  }
  const banner = '// Made from the grammars in grammar/ by `npm run generate`. Do not edit.\n';
  return new Map([
    ['grammars.js', banner + constants.join('')],
    ['grammars.d.ts', banner + types.join('')],
  ]);
}

async function main(check: boolean): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pegwire-generate-'));
  const stale: string[] = [];
  try {
    const files = [await grammarTexts()];
    for (const target of TARGETS) files.push(await generate(target, folder));
    for (const [name, text] of files.flatMap((made) => [...made])) {
      const file = path.join(root, 'generated', name);
      if (!check) await writeFile(file, text);
      else if ((await readFile(file, 'utf8').catch(() => null)) !== text) stale.push(`generated/${name}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  if (stale.length > 0) console.error(`Stale: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.`);
  else console.log(check ? 'generated/ is up to date.' : 'generated/ is written.');
  return stale.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.includes('--check'));
