/**
 * Generates the parsers in generated/ from the grammars in grammar/, and a module with the texts of the grammars; with --check, fails if a
 * file is out of date.
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
  /** The TypeScript types of the results by start rule, as imports from generated/. */
  readonly returnTypes: Readonly<Record<string, string>>;
  /** The members of the options that the grammar reads. */
  readonly options: string;
  /** The type of `reason` in errors. */
  readonly reasons: string;
  /** Rules that match a small set of frequent texts. */
  readonly words: readonly string[];
  /** If true, the code in the grammar reads character codes of matched ASCII text only. */
  readonly readsMatched: boolean;
  /** Names that the code in the grammar uses without side effects that another parse can observe. */
  readonly pure: readonly string[];
}

const TARGETS: readonly Target[] = [
  {
    name: 'accp',
    returnTypes: {
      frame: "import('../src/accp/ast.js').Frame",
      envelope: "import('../src/accp/ast.js').FrameEnvelope",
    },
    options: `  /** The dialect. @default "strict" */
  dialect?: 'strict' | 'lenient' | undefined;
  /** If true, every node has a \`span\`. @default false */
  spans?: boolean | undefined;
  /** The maximum nesting depth of arrays and maps in one value. @default 5 */
  maxDepth?: number | undefined;
  /** The maximum number of parameters, map entries and array items in total. @default 100000 */
  maxItems?: number | undefined;
  /** The maximum number of digits in one number. @default 1000 */
  maxDigits?: number | undefined;`,
    reasons: "'limit' | 'duplicate-key'",
    words: ['agent_id', 'intent', 'operation', 'key'],
    readsMatched: true,
    // BigInt throws on texts that are not integers, but receives digits only. The others are temporary memory.
    pure: ['BigInt', 'keys', 'past', 'codes'],
  },
  {
    name: 'aacp',
    returnTypes: { packet: "import('../src/aacp/ast.js').Packet" },
    options: `  /** The dialect. @default "strict" */
  dialect?: 'strict' | 'tolerant' | undefined;
  /** If true, every node has a \`span\`. @default false */
  spans?: boolean | undefined;
  /** The maximum number of fields. @default 100000 */
  maxItems?: number | undefined;`,
    reasons: "'limit'",
    words: ['task', 'dom', 'key'],
    readsMatched: false,
    pure: [],
  },
  {
    name: 'abnf',
    returnTypes: { rulelist: "import('../src/grammar-export/abnf/ast.js').AbnfGrammar" },
    options: `  /** If true, rules and references have a \`span\`. @default false */
  spans?: boolean | undefined;
  /** The maximum nesting depth of groups and options. @default 200 */
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

/** Runs Peggy on one grammar, and returns the texts of the parser and its types. */
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
      tryParse: true,
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

/** Returns the type declarations of a parser, which only the command line of Peggy generates. */
async function typesOf(target: Target, source: string, folder: string): Promise<string> {
  const output = path.join(folder, `${target.name}.js`);
  const cli = new PeggyCLI();
  const args = ['--format', 'es', '--dts', '--allowed-start-rules', Object.keys(target.returnTypes).join(',')];
  args.push('--return-types', JSON.stringify(target.returnTypes), '--output', output, path.join(root, source));
  await cli.parseAsync(args, { from: 'user' });
  const exitCode = await cli.main();
  if (exitCode !== 0) throw new Error(`Peggy rejected ${source} with exit code ${exitCode}`);
  return readFile(output.replace(/\.js$/, '.d.ts'), 'utf8');
}

/**
 * Corrects the types of Peggy: adds the functions of the plugin and `reason`, closes the options, so that misspelt ones do not compile, and
 * makes `expected` nullable, as in errors of actions.
 */
function withOptions(types: string, target: Target): string {
  const tries = Object.entries(target.returnTypes).map(
    ([rule, type]) =>
      `export declare function tryParse(input: string, options?: ParseOptions<"${rule}">): Result<${type}>;`,
  );
  const edits: readonly (readonly [before: string, after: string])[] = [
    ['  // Extra application-specific properties\n  [key: string]: unknown;', target.options],
    [
      '  readonly expected: Expectation[];',
      `  /** The expected alternatives; null if \`reason\` is set. */
  readonly expected: Expectation[] | null;
  /** The reason why a well-formed text is rejected. */
  readonly reason?: ${target.reasons};`,
    ],
    [
      'export declare class SyntaxError',
      `/** Returns whether parse() accepts the input, with the same grammar and limits, without building a tree. */
export declare function recognize(input: string, options?: ParseOptions<StartRuleNames>): boolean;

/** The result of tryParse(): that of parse(), or the error that it throws. */
export type Result<Tree> = { readonly ok: true; readonly value: Tree } | { readonly ok: false; readonly error: SyntaxError };

/** Parses like parse(), but returns a SyntaxError instead of throwing it. The error has no stack trace. */
${tries.join('\n')}

export declare class SyntaxError`,
    ],
  ];
  return edits.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`Peggy's type declarations have changed: "${before}" is missing`);
    return text.replace(before, after);
  }, types);
}

/** Returns a module with the texts of the grammars, for environments without files. */
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
    for (const [name, text] of files.flatMap((group) => [...group])) {
      const file = path.join(root, 'generated', name);
      if (!check) await writeFile(file, text);
      else if ((await readFile(file, 'utf8').catch(() => null)) !== text) stale.push(`generated/${name}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  if (stale.length > 0)
    console.error(`Out of date: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.`);
  else console.log(check ? 'generated/ is up to date.' : 'Wrote generated/.');
  return stale.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.includes('--check'));
