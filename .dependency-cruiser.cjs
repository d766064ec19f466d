/**
 * The direction of imports: text <- ast, parse, print <- validate, explain, find <- schema, language, prompt <- cli; and of
 * sessions: ast, parse, print <- message <- registry, profiles, store, state, streams <- session <- codec.
 */
const PORTABLE = '^src/(text/|aacp/|accp/[^/]+\\.ts$)';
/** ACCP above the grammar: portable, too, but with packages and with the clock that it is given. */
const SESSIONS = '^src/accp/(codec|message|profiles|registry|render|session|state|store|streams)/';
const SQLITE = '^src/accp/store/sqlite';
/** What tools need of a protocol stands with it, and is no part of the portable core. */
const TOOLS = '^src/(accp|aacp)/(editor|language|narrowing|overlay|prompt|samples|schema)\\.ts$';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'text-knows-no-protocol',
      severity: 'error',
      from: { path: '^src/text/' },
      to: { pathNot: '^src/text/' },
    },
    {
      name: 'protocols-stay-apart',
      comment: 'What joins two protocols lives in the command line or in bindings.',
      severity: 'error',
      from: { path: '^src/(accp|aacp)/' },
      to: { path: '^src/(accp|aacp|cli)/', pathNot: '^src/$1/' },
    },
    {
      name: 'one-importer-per-generated-parser',
      severity: 'error',
      comment: 'Benchmarks measure the raw parsers, too.',
      from: {
        path: '^(src|scripts|bench)/',
        pathNot: '^(src/(accp|aacp|engine/abnf)/parse\\.ts$|src/bench/candidates/|bench/)',
      },
      to: { path: '^generated/' },
    },
    { name: 'generated-imports-nothing', severity: 'error', from: { path: '^generated/.*\\.js$' }, to: {} },
    {
      name: 'portable-core-without-node',
      severity: 'error',
      from: { path: PORTABLE, pathNot: TOOLS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'portable-core-without-packages',
      comment: 'Only the finders use a package: moo, the tokenizer that reads the token tables.',
      severity: 'error',
      from: { path: PORTABLE, pathNot: ['/(find|tokens)\\.ts$', TOOLS] },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'portable-core-without-tools',
      severity: 'error',
      from: { path: PORTABLE, pathNot: TOOLS },
      to: { path: ['^src/(engine|tokens|cli|bench|storage)/', TOOLS, SESSIONS] },
    },
    {
      name: 'sessions-without-node',
      comment: 'But for the store in a file.',
      severity: 'error',
      from: { path: SESSIONS, pathNot: SQLITE },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sessions-with-few-packages',
      severity: 'error',
      from: { path: SESSIONS },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/(zod|@noble/hashes)/',
      },
    },
    {
      name: 'sessions-without-drivers',
      severity: 'error',
      from: { path: SESSIONS, pathNot: SQLITE },
      to: { path: ['^src/storage/', SQLITE] },
    },
    {
      name: 'sessions-without-tools',
      severity: 'error',
      from: { path: SESSIONS },
      to: { path: ['^src/(engine|cli|bench|aacp)/', TOOLS] },
    },
    {
      name: 'tokens-know-no-session',
      severity: 'error',
      from: { path: '^src/(tokens|storage)/' },
      to: { path: SESSIONS },
    },
    {
      name: 'only-zod-in-the-tools',
      severity: 'error',
      from: { path: TOOLS },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: 'node_modules/zod/' },
    },
    {
      name: 'engine-knows-no-protocol',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: { path: '^(src/(accp|aacp|cli|bench)|grammar)/' },
    },
    {
      name: 'only-moo-in-the-finders',
      severity: 'error',
      from: { path: PORTABLE, pathNot: TOOLS },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: 'node_modules/(@types/)?moo/' },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'source-without-tests',
      severity: 'error',
      from: { path: '^(src|grammar)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A project of its own: it imports the packed package.
    exclude: { path: '^test/package/scratch/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
};
