/**
 * Directions of imports. Core: text <- ast, parse, print <- validate, explain, find <- schema, language, prompt <- cli. Sessions: ast, parse,
 * print <- message <- registry, profiles, store, state, streams <- session <- codec <- bindings. AACP above the grammar: validate <- build,
 * lint <- encoders, dispatch <- rules, registry, instruction, models <- match <- fallback. ACP uses only the channels.
 */
const PORTABLE = '^src/(text/|(aacp|accp)/[^/]+\\.ts$)';
/** ACCP above the grammar: portable, with packages and an injected clock. */
const SESSIONS = '^src/accp/(codec|message|profiles|registry|render|session|state|store|streams)/';
const SQLITE = '^src/accp/store/(sqlite|postgres|database)';
/** Transports of ACCP frames: portable, without packages, and without the SDKs that they work with. */
const BINDINGS = '^src/accp/bindings/';
/** The server: the bindings on a port of this machine, with Node and the packages that it needs. */
const SERVE = '^src/accp/serve/';
/** Byte and message channels; the parts that need Node have a folder of their own. */
const CHANNELS = '^src/channels/';
const CHANNELS_NODE = '^src/channels/(node/|index\\.ts$)';
/** JSON-RPC as ACP uses it; the parts that need Node have a folder of their own. */
const ACP = '^src/acp/';
const ACP_NODE = '^src/acp/((http/)?node/|(http/)?index\\.ts$)';
/** ARCP: messages, then stores, then runtimes and clients. */
const ARCP = '^src/arcp/';
/** The parts of ARCP that need Node. */
const ARCP_NODE = '^src/arcp/((runtime|client)/(node/|index\\.ts$)|queues/|quic/|store/(sqlite|postgres))';
const ARCP_PROTOCOL = '^src/arcp/(protocol/|logs/|index\\.ts$)';
/** AACP above the grammar. */
const AACP_ABOVE = '^src/aacp/(bindings|build|dispatch|encoders|fallback|lint|matching|models|registry|rules)/';
/** The parts of AACP that need files, databases or the packaged grammar, and so Node. */
const AACP_NODE =
  '^src/aacp/(dispatch/(file-audit|index)|registry/(sqlite|postgres|database|location|index)|rules/(load-file|index)|fallback/index|models/packet-grammar)';
/** Adapters for agent frameworks: portable, above the clients of ARCP and ACCP. */
const FRAMEWORKS = '^src/frameworks/';
/** The hash function, which the core does not use. */
const HASH = '^src/text/sha256\\.ts$';
/** Support for tools stands with its protocol, outside the portable core. */
const TOOLS = '^src/(accp|aacp)/language/';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'text-knows-no-protocol',
      severity: 'error',
      from: { path: '^src/text/' },
      to: { pathNot: '^src/text/|node_modules/@noble/hashes/' },
    },
    {
      name: 'protocols-stay-apart',
      comment: 'Code that joins two protocols belongs to the command line or to bindings.',
      severity: 'error',
      from: { path: '^src/(accp|aacp|acp|arcp)/' },
      to: { path: '^src/(accp|aacp|acp|arcp|cli)/', pathNot: '^src/$1/' },
    },
    {
      name: 'one-importer-per-generated-parser',
      severity: 'error',
      comment: 'Benchmarks also measure the raw parsers.',
      from: {
        path: '^(src|scripts|bench)/',
        pathNot:
          '^(src/(accp|aacp|aacp/matching/instruction|grammar-export/abnf)/parse\\.ts$|src/bench/candidates/|bench/)',
      },
      // Every compiler of a grammar may import the texts of the grammars.
      to: { path: '^generated/', pathNot: '^generated/grammars\\.' },
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
      from: { path: PORTABLE, pathNot: ['/(find|tokens)\\.ts$', HASH, TOOLS] },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'portable-core-without-tools',
      severity: 'error',
      from: { path: PORTABLE, pathNot: TOOLS },
      to: {
        path: [
          '^src/(peggy-fast|fuzz|grammar-export|tokens|cli|bench|storage)/',
          TOOLS,
          SESSIONS,
          BINDINGS,
          AACP_ABOVE,
        ],
      },
    },
    {
      name: 'sessions-without-node',
      comment: 'Except the stores in databases.',
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
        pathNot: 'node_modules/zod/',
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
      to: { path: ['^src/(peggy-fast|fuzz|grammar-export|cli|bench|aacp)/', TOOLS] },
    },
    {
      name: 'sessions-know-no-binding',
      severity: 'error',
      from: { path: SESSIONS },
      to: { path: BINDINGS },
    },
    {
      name: 'bindings-without-node-and-packages',
      severity: 'error',
      from: { path: BINDINGS },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'bindings-without-tools',
      severity: 'error',
      from: { path: BINDINGS },
      to: { path: ['^src/(peggy-fast|fuzz|grammar-export|cli|bench|storage|tokens)/', SQLITE, TOOLS] },
    },
    {
      name: 'only-the-command-line-serves',
      severity: 'error',
      from: { path: '^(src|grammar)/', pathNot: `^src/cli/|${SERVE}` },
      to: { path: SERVE },
    },
    {
      name: 'serving-with-few-packages',
      severity: 'error',
      from: { path: SERVE },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/(@types/|ws/|zod/|@remix-run/node-fetch-server/)',
      },
    },
    {
      name: 'serving-without-tools',
      severity: 'error',
      from: { path: SERVE },
      to: { path: ['^src/(peggy-fast|fuzz|grammar-export|cli|bench|storage|tokens)/', SQLITE, TOOLS] },
    },
    {
      name: 'channels-know-no-protocol',
      severity: 'error',
      from: { path: CHANNELS },
      to: { path: '^src/', pathNot: '^src/(async|channels|text)/' },
    },
    {
      name: 'channels-without-node-and-packages',
      severity: 'error',
      from: { path: CHANNELS, pathNot: CHANNELS_NODE },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        // It reads server-sent events, and runs everywhere.
        pathNot: 'node_modules/eventsource-parser/',
      },
    },
    {
      name: 'portable-without-channels-of-node',
      severity: 'error',
      from: { path: '^src/(async|channels|acp|text)/', pathNot: `${CHANNELS_NODE}|${ACP_NODE}` },
      to: { path: CHANNELS_NODE },
    },
    {
      name: 'acp-knows-no-protocol-of-frames',
      severity: 'error',
      from: { path: ACP },
      to: { path: '^src/', pathNot: '^src/(acp|async|channels|text)/' },
    },
    {
      name: 'acp-without-node-and-packages',
      severity: 'error',
      from: { path: ACP, pathNot: ACP_NODE },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/eventsource-parser/',
      },
    },
    {
      name: 'portable-acp-without-its-node-part',
      severity: 'error',
      from: { path: ACP, pathNot: ACP_NODE },
      to: { path: ACP_NODE },
    },
    {
      name: 'arcp-rooms-stack',
      severity: 'error',
      from: { path: '^src/arcp/(protocol|store|streams)/' },
      to: { path: '^src/arcp/(runtime|client|bridges|mcp|logs|conformance)/' },
    },
    {
      name: 'arcp-runtime-stacks',
      comment: 'The context of handlers is below the engine that runs them, which is below sessions and connections.',
      severity: 'error',
      from: {
        path: '^src/arcp/runtime/((types|works|pages|streams|telemetry|workflow)\\.ts|(events|permissions|job|context)/)',
      },
      to: { path: '^src/arcp/runtime/((core|runtime)\\.ts|(engine|sessions|commands|connections|node)/)' },
    },
    {
      name: 'arcp-stands-on-channels-and-storage',
      severity: 'error',
      from: { path: ARCP },
      to: { path: '^src/', pathNot: '^src/(arcp|async|channels|storage|text)/' },
    },
    {
      name: 'messages-of-arcp-stand-alone',
      severity: 'error',
      from: { path: ARCP_PROTOCOL },
      to: { path: '^src/', pathNot: [ARCP_PROTOCOL, '^src/text/'] },
    },
    {
      name: 'messages-of-arcp-without-node',
      severity: 'error',
      from: { path: ARCP_PROTOCOL },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'messages-of-arcp-with-few-packages',
      severity: 'error',
      from: { path: ARCP_PROTOCOL },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/zod/',
      },
    },
    {
      name: 'arcp-without-node',
      comment: 'Except the modules that listen, connect and store files.',
      severity: 'error',
      from: { path: ARCP, pathNot: ARCP_NODE },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'portable-arcp-without-its-node-part',
      severity: 'error',
      from: { path: ARCP, pathNot: ARCP_NODE },
      to: { path: [ARCP_NODE, CHANNELS_NODE, '^src/storage/'] },
    },
    {
      name: 'arcp-with-few-packages',
      severity: 'error',
      from: { path: ARCP },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/(@types/|zod/|ws/)',
      },
    },
    {
      name: 'clients-and-runtimes-stay-apart',
      severity: 'error',
      from: { path: '^src/arcp/(client|runtime|store)/', pathNot: ARCP_NODE },
      to: { path: '^src/arcp/(client|runtime)/', pathNot: '^src/arcp/$1/' },
    },
    {
      name: 'aacp-parts-without-node',
      comment: 'Except the modules for files and databases.',
      severity: 'error',
      from: { path: AACP_ABOVE, pathNot: AACP_NODE },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'aacp-parts-with-few-packages',
      comment: 'The SDKs of model providers are loaded when a model is asked.',
      severity: 'error',
      from: { path: AACP_ABOVE },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: 'node_modules/(zod|stemmer|openai|@anthropic-ai/sdk)/',
      },
    },
    {
      name: 'aacp-parts-without-tools',
      severity: 'error',
      from: { path: AACP_ABOVE, pathNot: AACP_NODE },
      to: { path: ['^src/(peggy-fast|fuzz|grammar-export|cli|bench|accp|storage)/', TOOLS] },
    },
    {
      name: 'aacp-encoders-know-no-fallback',
      severity: 'error',
      from: { path: '^src/aacp/(bindings|build|dispatch|encoders|lint)/' },
      to: { path: '^src/aacp/(fallback|matching|models|registry|rules)/' },
    },
    {
      name: 'tokens-know-no-session',
      severity: 'error',
      from: { path: '^src/(tokens|storage)/' },
      to: { path: [SESSIONS, AACP_ABOVE] },
    },
    {
      name: 'only-the-command-line-inspects',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|inspector)/' },
      to: { path: '^src/inspector/' },
    },
    {
      name: 'the-page-of-the-inspector-is-small',
      comment:
        'It is bundled, and does not make preact a dependency of the package. Of the protocols, it imports what needs no package.',
      severity: 'error',
      from: { path: '^src/inspector/page/' },
      to: {
        path: ['^src/', 'node_modules/'],
        pathNot: [
          '^src/inspector/(page/|feed\\.ts$)',
          PORTABLE,
          '^src/arcp/logs/(graph|summary)\\.ts$',
          'node_modules/preact/',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-zod-in-the-tools',
      comment: 'Beside moo, which reads the token tables.',
      severity: 'error',
      from: { path: TOOLS, pathNot: '/tokens\\.ts$' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: 'node_modules/zod/' },
    },
    {
      name: 'frameworks-stand-on-clients',
      severity: 'error',
      from: { path: FRAMEWORKS },
      to: { path: '^src/', pathNot: [FRAMEWORKS, '^src/(accp|arcp|text)/'] },
    },
    {
      name: 'frameworks-without-node',
      severity: 'error',
      from: { path: FRAMEWORKS },
      to: { path: [SQLITE, ARCP_NODE, CHANNELS_NODE], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'frameworks-import-no-built-in',
      severity: 'error',
      from: { path: FRAMEWORKS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'nothing-stands-on-frameworks',
      severity: 'error',
      from: { path: '^(src|grammar)/', pathNot: FRAMEWORKS },
      to: { path: FRAMEWORKS },
    },
    {
      name: 'grammar-tools-know-no-protocol',
      severity: 'error',
      from: { path: '^src/(peggy-fast|fuzz|grammar-export)/' },
      to: { path: '^(src/(accp|aacp|cli|bench)|grammar)/' },
    },
    {
      name: 'grammar-tools-without-node',
      comment: 'Except the folder that runs programs.',
      severity: 'error',
      from: { path: '^src/(peggy-fast|fuzz|grammar-export|(accp|aacp)/language)/', pathNot: '^src/fuzz/process/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'portable-grammar-tools-run-no-programs',
      severity: 'error',
      from: { path: '^src/(peggy-fast|fuzz|grammar-export|(accp|aacp)/language)/', pathNot: '^src/fuzz/process/' },
      to: { path: '^src/fuzz/process/' },
    },
    {
      name: 'only-moo-in-the-finders',
      severity: 'error',
      from: { path: PORTABLE, pathNot: [HASH, TOOLS] },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'], pathNot: 'node_modules/(@types/)?moo/' },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      // The playground is bundled with its packages.
      from: { path: '^src/', pathNot: '^src/playground/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        // Optional peers of the package, and what the build bundles.
        pathNot:
          'node_modules/(preact|@types|openai|@anthropic-ai|@modelcontextprotocol/client|@photostructure|gpt-tokenizer|@toon-format|@langchain|@openai|ai|vscode-language[a-z-]+)/',
      },
    },
    {
      name: 'only-the-build-knows-the-playground',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/playground/' },
      to: { path: '^src/playground/' },
    },
    {
      name: 'playground-without-node',
      severity: 'error',
      from: { path: '^src/playground/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'language-server-stands-on-protocols-and-the-plugin',
      severity: 'error',
      from: { path: '^src/language-server/' },
      to: { path: '^src/', pathNot: '^src/(language-server|accp|aacp|text|peggy-fast)/' },
    },
    {
      name: 'only-the-command-line-starts-the-language-server',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|language-server)/' },
      to: { path: '^src/language-server/' },
    },
    {
      name: 'one-module-imports-the-packages-of-the-language-server',
      comment: 'The build bundles them there.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/language-server/(protocol\\.ts$|vscode/)' },
      to: { path: 'node_modules/vscode-' },
    },
    {
      name: 'the-extension-stands-alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/language-server/vscode/' },
      to: { path: '^src/language-server/vscode/' },
    },
    {
      name: 'source-without-tests',
      severity: 'error',
      from: { path: '^(src|grammar)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'resolvable',
      comment:
        'Examples import the package by its name, which resolves once it is built; VS Code provides the module of its extensions.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(pegwire(/|$)|virtual:|vscode$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // They import the packed package.
    exclude: { path: '^test/(package/scratch|fixtures)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
};
