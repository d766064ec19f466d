/** Big documents that change, and documents that are being typed, over stdio. Work is measured by counting what the server parses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  DocumentFormattingRequest,
  DocumentSymbolRequest,
  ErrorCodes,
  HoverRequest,
  PrepareRenameRequest,
  SemanticTokensRequest,
} from 'vscode-languageserver-protocol';
import { program } from '../helpers/cli.js';
import { type Client, type OpenFile, startClient } from './client.js';

let client: Client;
beforeAll(async () => {
  client = await startClient();
});
afterAll(async () => {
  expect(await client.close()).toBe(0);
});

const LINES = 5000;

/** Returns the lines that were parsed to report on a document. */
async function parsedFor(file: OpenFile): Promise<number> {
  await file.diagnostics();
  // An answer comes after all notices of what came before it.
  await client.connection.sendRequest(HoverRequest.type, {
    textDocument: file.textDocument,
    position: { line: 0, character: 0 },
  });
  return client.takeParsed().reduce((sum, count) => sum + count, 0);
}

const at = (line: number, character: number, end = character, lastLine = line) => ({
  start: { line, character },
  end: { line: lastLine, character: end },
});

describe('a document of 5,000 lines', () => {
  it.each([
    ['frames.accp', (n: number) => `@a>req:step_${n}{k:${n}}[mid:m${n},seq:${n + 1}]`, '\r\n'],
    ['packets.aacp', (n: number) => `FETCH|HR|return:Agent-${n}|p:1|aacp:1.1`, '\n'],
    ['notes.md', (n: number) => `\u{1f600} ${n}: \`@a>req:x{k:${n}}\` and \`FETCH|HR|return:A|p:1|aacp:1.1\``, '\n'],
  ])('parses only the changed lines of %s', async (name, line, end) => {
    const file = await client.open(name, Array.from({ length: LINES }, (_, n) => line(n)).join(end));
    expect(await parsedFor(file)).toBe(LINES);
    expect(await file.diagnostics()).toEqual([]);

    // A character is typed, and deleted again.
    const column = 9;
    await file.change({ range: at(2500, column), text: ' ' });
    expect(await parsedFor(file)).toBe(1);
    await file.change({ range: at(2500, column, column + 1), text: '' });
    expect(await parsedFor(file)).toBe(1);

    // A line is split, and joined again.
    await file.change({ range: at(100, 8), text: end });
    expect(await parsedFor(file)).toBe(2);
    await file.change({ range: at(100, 8, 0, 101), text: '' });
    expect(await parsedFor(file)).toBe(1);

    // A line is added before the first, and 100 lines are deleted; the others only move.
    await file.change({ range: at(0, 0), text: line(7) + end });
    expect(await parsedFor(file)).toBe(1);
    await file.change({ range: at(1000, 0, 0, 1100), text: '' });
    expect(await parsedFor(file)).toBe(0);

    // Requests use what was parsed.
    const { textDocument } = file;
    await client.connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
    await client.connection.sendRequest(SemanticTokensRequest.type, { textDocument });
    await client.connection.sendRequest(CompletionRequest.type, { textDocument, position: { line: 50, character: 5 } });
    expect(await parsedFor(file)).toBe(0);

    // A client that sends the whole text does not cause more work.
    await file.change({
      text: file.text().replace('x{k:1}', 'x{k:2}').replace('step_1{', 'step_one{').replace('Agent-1|', 'Agent-one|'),
    });
    expect(await parsedFor(file)).toBe(1);
    const problem = file.rangeOf(name.endsWith('.aacp') ? 'p:1' : '{k:', 4000);
    await file.change({ range: problem, text: name.endsWith('.aacp') ? 'p:9' : '{:' });
    expect(await parsedFor(file)).toBe(1);
    const found = await file.diagnostics();
    expect(found.map(({ range }) => range.start.line)).toEqual([problem.start.line]);
  });

  it('parses only the changed rules of a grammar', async () => {
    const rules = LINES / 4;
    const rule = (n: number) =>
      `// Rule ${n}.\nr${n} "rule ${n}"\n  = "a${n}" r${(n + 1) % rules} { return { n: ${n} }; }\n  / [a-z]`;
    const file = await client.open('big.peggy', Array.from({ length: rules }, (_, n) => rule(n)).join('\n'));
    // The comment before the first rule is a part, too.
    expect(await parsedFor(file)).toBe(rules + 1);
    expect(await file.diagnostics()).toEqual([]);
    await file.change({ range: file.rangeOf('"a600"'), text: '"b" missing' });
    expect(await parsedFor(file)).toBe(1);
    expect((await file.diagnostics()).map(({ message }) => message)).toEqual(['Rule "missing" is not defined.']);
    await file.change({ range: file.rangeOf('missing'), text: '(' });
    expect(await parsedFor(file)).toBe(1);
    expect((await file.diagnostics()).map(({ code, range }) => [code, range.start.line])).toEqual([
      ['grammar-syntax', file.before('// Rule 601.').line - 1],
    ]);
    await file.change({ range: file.rangeOf('// Rule 3.\n'), text: '' });
    expect(await parsedFor(file)).toBe(1);
  });
});

describe('a document that is being typed', () => {
  it.each([
    [
      'typed.accp',
      '# c\n@planner>req:schedule{schema:TC|m:{a:$warm.k,b:[1,-2.5,~]}|s:\\@x\u{1f600}}[mid:m1,seq:1,cid:m1]\r\n\r\n@b>done:x{}',
    ],
    ['typed.aacp', 'FECH|HR|return:HR-Agent|p:9|aacp:1.1|risk:high||ccy:eur|\u{1f600}:x\r\n# c\nPROC|FIN|return: A'],
    ['typed.md', '# T\n\n`@a>req:x{k:@b}` \u{1f600} FETCH|HR|return:A|p:1\n\n| a | b |\n|---|---|\n| `A|B|c:d` |\n'],
    ['typed.json', '{"a": "@a>req:x{k:\\\\@b|u:\\u0041}", "b": "{\\"c\\": \\"FETCH|HR|return:A\\"}"}'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text contains templates
    ['typed.ts', "const a = `@${x}>req:y{k:${f({})}|n:\\\\@s}`; // ${ 'F|H|a:b'"],
    [
      'typed.peggy',
      '{{ const a = "}"; }}\n// c\nstart "s" = @a:rule|1..3, ","| / !rule* &{ return x; } [^\\]a]i "\\u{1f600}\u{1f600}" $(.)\n\nrule = start\n',
    ],
  ])('answers at every prefix of %s', async (name, text) => {
    const file = await client.open(name, '');
    const requests: Promise<unknown>[] = [];
    for (const character of text) {
      const position = file.text() === '' ? { line: 0, character: 0 } : file.after(file.text());
      await file.change({ range: { start: position, end: position }, text: character });
      const end = file.after(file.text());
      const { textDocument } = file;
      const range = { start: { line: end.line, character: 0 }, end };
      const { connection } = client;
      requests.push(
        connection.sendRequest(CompletionRequest.type, { textDocument, position: end }),
        connection.sendRequest(HoverRequest.type, { textDocument, position: end }),
        connection.sendRequest(DefinitionRequest.type, { textDocument, position: end }),
        connection.sendRequest(PrepareRenameRequest.type, { textDocument, position: end }),
        connection.sendRequest(SemanticTokensRequest.type, { textDocument }),
        connection.sendRequest(DocumentSymbolRequest.type, { textDocument }),
        connection.sendRequest(DocumentFormattingRequest.type, {
          textDocument,
          options: { tabSize: 2, insertSpaces: true },
        }),
        connection.sendRequest(CodeActionRequest.type, { textDocument, range, context: { diagnostics: [] } }),
      );
    }
    const answers = await Promise.allSettled(requests);
    expect(answers.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
    // The same as for a document that is opened at once.
    const whole = await client.open(name, text);
    const typed = await file.diagnostics();
    expect(typed.length).toBeGreaterThan(0);
    const plain = (found: typeof typed) =>
      found.filter(({ code }) => code !== 'peggy-plugin').map(({ code, range }) => ({ code, range }));
    expect(plain(typed)).toEqual(plain(await whole.diagnostics()));
  });
});

describe('the connection', () => {
  const textDocument = { uri: 'file:///a.accp' };
  const position = { line: 0, character: 0 };
  const params = { processId: null, rootUri: null, capabilities: {} };
  const initialize = { id: 1, method: 'initialize', params };

  /** Runs a server with these messages. @returns its exit code, its output, and the error codes of its answers by id */
  const session = async (...messages: readonly object[]) => {
    const stdin = messages.map((content) => {
      const text = JSON.stringify({ jsonrpc: '2.0', ...content });
      return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    });
    const { code, stdout } = await program(['lsp', '--stdio'], { stdin: stdin.join('') });
    const answers = stdout.split(/Content-Length: \d+\r\n\r\n/).slice(1);
    const failed = answers.map((text) => JSON.parse(text)).filter(({ error }) => error !== undefined);
    return { code, stdout, errors: Object.fromEntries(failed.map(({ id, error }) => [id, error.code])) };
  };

  it('ends with the editor, with exit code 1 if the editor did not end it', async () => {
    const own = await startClient();
    const exited = new Promise((resolve) => own.process.once('exit', resolve));
    own.process.stdin!.end();
    expect(await exited).toBe(1);
  });

  it('answers what came before the end of the input', async () => {
    const { code, stdout } = await session(initialize, { id: 2, method: 'shutdown' }, { method: 'exit' });
    expect(code).toBe(0);
    expect(stdout).toContain('"id":1,"result":{"serverInfo"');
  });

  it('answers only initialize before it, once, and nothing after shutdown', async () => {
    const hover = { method: 'textDocument/hover', params: { textDocument, position } };
    const { code, errors, stdout } = await session(
      { method: 'textDocument/didOpen', params: { textDocument: { ...textDocument, text: '@a>req:x{}' } } },
      { id: 'early', ...hover },
      { id: 'early shutdown', method: 'shutdown' },
      { id: 'malformed', method: 'initialize', params: {} },
      initialize,
      { ...initialize, id: 'again' },
      { id: 'unopened', ...hover },
      { id: 2, method: 'shutdown', params: null },
      { id: 'late', ...hover },
      { id: 'late shutdown', method: 'shutdown' },
    );
    expect(errors).toEqual({
      early: ErrorCodes.ServerNotInitialized,
      'early shutdown': ErrorCodes.ServerNotInitialized,
      malformed: ErrorCodes.InvalidParams,
      again: ErrorCodes.InvalidRequest,
      late: ErrorCodes.InvalidRequest,
      'late shutdown': ErrorCodes.InvalidRequest,
    });
    expect(stdout).toContain('"id":"unopened","result":null');
    expect(stdout).toContain('"id":2,"result":null');
    expect(code).toBe(0);
  });

  it('ends on exit before initialize, with exit code 1', async () => {
    expect(await session({ method: 'exit' })).toMatchObject({ code: 1, errors: {} });
  });

  it('refuses malformed parameters', async () => {
    const range = { start: position, end: position };
    const malformed: readonly (readonly [string, unknown])[] = [
      ...['hover', 'completion', 'definition', 'references', 'prepareRename', 'rename', 'documentSymbol'].flatMap(
        (name) => [null, {}, [], 7, { textDocument: null, position }].map((params) => [name, params] as const),
      ),
      ...['hover', 'completion', 'definition', 'references', 'prepareRename', 'rename'].flatMap((name) =>
        [null, {}, { line: -1, character: 0 }].map((at) => [name, { textDocument, position: at }] as const),
      ),
      ['references', { textDocument, position, context: 1 }],
      ['rename', { textDocument, position, newName: 1 }],
      ['formatting', {}],
      ['rangeFormatting', { textDocument, options: {} }],
      ['codeAction', { textDocument, range }],
      ['codeAction', { textDocument, range: { start: position }, context: { diagnostics: [] } }],
      ['codeAction', { textDocument, range, context: { diagnostics: [null] } }],
      ['codeAction', { textDocument, range, context: { diagnostics: [], only: 'quickfix' } }],
      ['semanticTokens/full', {}],
      ['semanticTokens/full/delta', { textDocument }],
      ['semanticTokens/range', { textDocument }],
    ];
    const requests = malformed.map(([name, params], id) => ({
      id: `request ${id}`,
      method: `textDocument/${name}`,
      params,
    }));
    const { errors } = await session(initialize, ...requests);
    expect(errors).toEqual(Object.fromEntries(requests.map(({ id }) => [id, ErrorCodes.InvalidParams])));
  });
});
