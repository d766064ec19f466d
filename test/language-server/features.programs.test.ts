/** Each feature of the language server, over stdio, with the protocol library of VS Code as the client. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CodeAction,
  CodeActionRequest,
  type CompletionItem,
  CompletionRequest,
  DefinitionRequest,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  type DocumentSymbol,
  DocumentSymbolRequest,
  type Hover,
  HoverRequest,
  type Location,
  type MarkupContent,
  type Position,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  type SemanticTokens,
  SemanticTokensDeltaRequest,
  SemanticTokensRangeRequest,
  SemanticTokensRequest,
} from 'vscode-languageserver-protocol';
import { scratchFolder } from '../helpers/cli.js';
import { type Client, type OpenFile, startClient } from './client.js';

let client: Client;
beforeAll(async () => {
  client = await startClient();
});
afterAll(async () => {
  expect(await client.close()).toBe(0);
});

const hoverAt = async ({ textDocument }: OpenFile, position: Position): Promise<string> => {
  const hover = (await client.connection.sendRequest(HoverRequest.type, { textDocument, position })) as Hover | null;
  return (hover?.contents as MarkupContent | undefined)?.value ?? '';
};

const completedAt = async ({ textDocument }: OpenFile, position: Position, by = client): Promise<CompletionItem[]> =>
  (await by.connection.sendRequest(CompletionRequest.type, { textDocument, position })) as CompletionItem[];

const wordsAt = async (file: OpenFile, position: Position, by = client): Promise<readonly string[]> =>
  (await completedAt(file, position, by)).map(({ label }) => label);

/** Returns the text of a file after each code action for its first diagnostic of a code, by title. */
async function actionsFor(file: OpenFile, code: string): Promise<Readonly<Record<string, string>>> {
  const diagnostic = (await file.diagnostics()).find((one) => one.code === code);
  if (diagnostic === undefined) throw new Error(`no diagnostic ${code}`);
  const { textDocument } = file;
  const context = { diagnostics: [diagnostic] };
  const actions = await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: diagnostic.range,
    context,
  });
  return Object.fromEntries(
    (actions as CodeAction[]).map(({ title, edit }) => [title, file.applied(edit!.changes![file.uri]!)]),
  );
}

/** Returns the semantic tokens as pairs of text and type. */
async function colorsOf(file: OpenFile, given?: SemanticTokens): Promise<readonly (readonly [string, string])[]> {
  const tokens =
    given ?? (await client.connection.sendRequest(SemanticTokensRequest.type, { textDocument: file.textDocument }))!;
  const { tokenTypes } = (
    client.initialized.capabilities.semanticTokensProvider as { legend: { tokenTypes: string[] } }
  ).legend;
  const pairs: [string, string][] = [];
  let [line, character] = [0, 0];
  for (let at = 0; at < tokens.data.length; at += 5) {
    const [lines, characters, length, type] = tokens.data.slice(at, at + 4) as [number, number, number, number];
    character = lines === 0 ? character + characters : characters;
    line += lines;
    pairs.push([
      file.slice({ start: { line, character }, end: { line, character: character + length } }),
      tokenTypes[type]!,
    ]);
  }
  return pairs;
}

const targetOf = async (file: OpenFile, position: Position): Promise<readonly string[]> => {
  const { textDocument } = file;
  const found = (await client.connection.sendRequest(DefinitionRequest.type, { textDocument, position })) as Location[];
  return found.map(({ range }) => `${range.start.line}:${range.start.character} ${file.slice(range)}`);
};

describe('initialization', () => {
  it('counts positions in UTF-16 code units, and takes incremental changes', () => {
    expect(client.initialized.capabilities).toMatchObject({
      positionEncoding: 'utf-16',
      textDocumentSync: { change: 2 },
    });
    expect(client.initialized.serverInfo?.name).toBe('pegwire');
  });
});

describe('frames', () => {
  it('reports what pegwire check reports, and leaves out comments and blank lines', async () => {
    const file = await client.open('check.accp', '# @a>req:\n\n@a>req:x{k:1}\n@bot>req:plan{nx:@strategy:plan}\n');
    const [only, ...others] = await file.diagnostics();
    expect(others).toEqual([]);
    expect(only).toMatchObject({
      code: 'E1001',
      severity: 1,
      source: 'pegwire',
      message: 'Expected a value, found "@".\nhelp: escape it ("\\@strategy\\:plan") or parse in the lenient dialect',
      range: { start: { line: 3, character: 17 }, end: { line: 3, character: 18 } },
    });
  });

  it.each([
    ['@bot>req:plan{nx:@s:plan}', 'E1001', { 'Escape "@s:plan"': '@bot>req:plan{nx:\\@s\\:plan}' }],
    ['@a>req:x{k:}', 'E1001', { 'Write "~" for null': '@a>req:x{k:~}', 'Remove "k:"': '@a>req:x{}' }],
    ['@a>req:x{k:[1', 'E1001', { 'Close the frame with "]}"': '@a>req:x{k:[1]}' }],
    ['@a>req:x{a:1,b:2}', 'E1001', { 'Separate the parameters by "|"': '@a>req:x{a:1|b:2}' }],
    ['@a>req:x{a:two words}', 'E1001', { 'Write "_" for the white space': '@a>req:x{a:two_words}' }],
    [
      '@a>req:x{a:1|b:2|a:3}',
      'E1001',
      { 'Remove "a:3"': '@a>req:x{a:1|b:2}', 'Rename it to "a_2"': '@a>req:x{a:1|b:2|a_2:3}' },
    ],
    ['@a>req:x{a:\\q}', 'E1001', { 'Escape the backslash': '@a>req:x{a:\\\\q}' }],
    ['@a>req:x{a:caf\u00e9}', 'E1001', { 'Write "e"': '@a>req:x{a:cafe}' }],
    ['@a>req:x{} trailing', 'E1001', { 'Remove the rest of the line': '@a>req:x{}' }],
    [' @a>req:x{}', 'E1001', { 'Remove the white space': '@a>req:x{}' }],
    ['@a>rek:x{}', 'E1002', { 'Replace with "req"': '@a>req:x{}' }],
  ])('fixes %s', async (text, code, fixes) => {
    const file = await client.open('fix.accp', text);
    expect(await actionsFor(file, code)).toMatchObject(fixes);
    await file.diagnostics();
  });

  it('explains each part with its section of the draft, and the whole frame', async () => {
    const file = await client.open(
      'hover.accp',
      '@planner>req:schedule{pri:high|src:$warm.ckpt_1}[mid:m1,seq:1,ts:1714000000]',
    );
    const parts = {
      planner: 'sends the frame',
      req: 'section 4.1',
      schedule: 'section 4.3',
      pri: 'priority',
      $warm: 'section 5.1',
      seq: 'section 3.5',
    };
    for (const [part, text] of Object.entries(parts)) expect(await hoverAt(file, file.after(part))).toContain(text);
    expect(await hoverAt(file, file.after('high'))).toContain('Agent planner requests schedule (req).');
    expect(await hoverAt(file, file.after('17140'))).toContain('2024-04-24T23:06:40.000Z');
  });

  it('completes every part of a frame that is being typed', async () => {
    const file = await client.open(
      'complete.accp',
      '@planner>req:schedule{pri:high}[mid:m1,seq:1]\n@p\n@p>r\n@p>req:sch\n@p>req:x{p\n@p>req:x{}[s\n@p>req:x{}[cid:\n@p>req:x{k:$\n@p>fail:x{code:\n',
    );
    const end = (line: number): Position => ({ line, character: file.text().split('\n')[line]!.length });
    expect(await wordsAt(file, end(1))).toEqual(['@planner']);
    expect(await wordsAt(file, end(2))).toEqual(expect.arrayContaining(['req', 'done', 'cancel']));
    expect(await wordsAt(file, end(3))).toEqual(expect.arrayContaining(['schedule', 'analyze']));
    expect(await wordsAt(file, end(4))).toEqual(expect.arrayContaining(['pri', 'nx', 'schema']));
    expect(await wordsAt(file, end(5))).toEqual(['mid', 'seq', 'ts', 'cid', 'aid', 'sid', 'ttl']);
    expect(await wordsAt(file, end(6))).toEqual(['m1']);
    expect(await wordsAt(file, end(7))).toEqual(['$hot.', '$warm.', '$cold.']);
    expect(await wordsAt(file, end(8))).toContain('E3003');
    const [intent] = await completedAt(file, end(2));
    expect(file.applied([intent!.textEdit as never])).toContain('@p>req:\n');
  });

  it('writes files in canonical form, keeps comments and invalid lines, and formats ranges', async () => {
    const file = await client.open(
      'format.accp',
      '# c\r\n@a>req:x{m:{b:1.50,a:007}}\r\n@a>req:x{\r\n@a>req:y{k:01}\r\n',
    );
    const { textDocument } = file;
    const options = { tabSize: 2, insertSpaces: true };
    const edits = await client.connection.sendRequest(DocumentFormattingRequest.type, { textDocument, options });
    expect(file.applied(edits!)).toBe('# c\r\n@a>req:x{m:{a:7,b:1.5}}\r\n@a>req:x{\r\n@a>req:y{k:1}\r\n');
    const range = { start: { line: 3, character: 0 }, end: { line: 3, character: 1 } };
    const part = await client.connection.sendRequest(DocumentRangeFormattingRequest.type, {
      textDocument,
      options,
      range,
    });
    expect(file.applied(part!)).toBe(file.text().replace('01', '1'));
  });

  it('colours the parts of a frame, valid or not, in full, in a range, and as changes', async () => {
    const file = await client.open(
      'colors.accp',
      '# c\n@a>req:x{k:$hot.v|n:1.5|b:true|s:t\\,u}[mid:m1]\n@b>done:y{k:\n',
    );
    const all = await colorsOf(file);
    expect(all).toEqual([
      ...[
        ['# c', 'comment'],
        ['@a', 'namespace'],
        ['req', 'keyword'],
        ['x', 'function'],
        ['k', 'property'],
      ],
      ...[
        ['$hot.v', 'variable'],
        ['n', 'property'],
        ['1.5', 'number'],
        ['b', 'property'],
        ['true', 'enumMember'],
      ],
      ...[
        ['s', 'property'],
        ['t', 'string'],
        ['\\,', 'regexp'],
        ['u', 'string'],
        ['mid', 'parameter'],
        ['m1', 'string'],
      ],
      ...[
        ['@b', 'namespace'],
        ['done', 'keyword'],
        ['y', 'function'],
        ['k', 'property'],
      ],
    ]);
    const { textDocument } = file;
    const range = { start: { line: 2, character: 0 }, end: { line: 2, character: 5 } };
    const part = await client.connection.sendRequest(SemanticTokensRangeRequest.type, { textDocument, range });
    expect(await colorsOf(file, part!)).toEqual(all.slice(-4));
    const full = (await client.connection.sendRequest(SemanticTokensRequest.type, { textDocument }))!;
    await file.change({ range: file.rangeOf('k:\n'), text: 'k:2}\n' });
    const delta = await client.connection.sendRequest(SemanticTokensDeltaRequest.type, {
      textDocument,
      previousResultId: full.resultId!,
    });
    const data = [...full.data];
    for (const { start, deleteCount, data: added = [] } of (
      delta as { edits: { start: number; deleteCount: number; data?: number[] }[] }
    ).edits) {
      data.splice(start, deleteCount, ...added);
    }
    expect(await colorsOf(file, { data })).toEqual([...all, ['2', 'number']]);
  });

  it('lists the messages and their keys', async () => {
    const file = await client.open('outline.accp', '@a>req:x{k:1|m:{z:2}}[mid:m1]\n\n@b>done:y{\n');
    const symbols = (await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument: file.textDocument,
    })) as DocumentSymbol[];
    expect(symbols.map(({ name }) => name)).toEqual(['@a>req:x', '@b>done:y']);
    expect(symbols[0]!.children!.map(({ name, detail, range }) => [name, detail, file.slice(range)])).toEqual([
      ['k', '1', 'k:1'],
      ['m', '{z:2}', 'm:{z:2}'],
    ]);
  });

  it('goes from references and ids to where they come from', async () => {
    const file = await client.open(
      'definition.accp',
      '@a>sync:state{v:2|delta:{plan:{step:2},budget:5}}[mid:m1,seq:1]\n@a>comp:checkpoint{id:ckpt_1}[mid:m2,seq:2,cid:m1]\n@b>req:x{p:$warm.plan.step|c:$warm.ckpt_1.status|u:$unknown}[mid:m3,seq:3,cid:m1,aid:m2]\n',
    );
    expect(await targetOf(file, file.after('$warm.pl'))).toEqual(['0:31 step']);
    expect(await targetOf(file, file.after('$warm.ck'))).toEqual(['1:22 ckpt_1']);
    expect(await targetOf(file, file.after('$unk'))).toEqual([]);
    expect(await targetOf(file, file.after('cid:m', 1))).toEqual(['0:54 m1']);
    expect(await targetOf(file, file.after('aid:m'))).toEqual(['1:34 m2']);
  });
});

describe('packets', () => {
  it('reports what the validator reports, and the advice of the linter', async () => {
    const file = await client.open('check.aacp', 'FECH|HR|return:HR-Agent|p:9|filter:email=jo@example.com\n');
    const found = (await file.diagnostics()).map(({ code, severity, range }) => [code, severity, file.slice(range)]);
    expect(found).toEqual([
      ['unknown-task', 2, 'FECH'],
      ['bad-priority', 2, '9'],
      ['sensitive-value', 3, 'jo@example.com'],
      ['missing-aacp', 1, ''],
    ]);
  });

  const TAIL = '|return:A|p:1|aacp:1.1';
  it.each([
    [`FECH|HR${TAIL}`, 'unknown-task', { 'Replace with "FETCH"': `FETCH|HR${TAIL}` }],
    [`FETCH|HRR${TAIL}`, 'unknown-dom', { 'Replace with "HR"': `FETCH|HR${TAIL}` }],
    ['FETCH|HR|return:A|p:1', 'missing-aacp', { 'Add "aacp:1.1"': `FETCH|HR${TAIL}` }],
    ['FETCH|HR|p:1|aacp:1.1', 'missing-return', { 'Add "return:AGENT"': 'FETCH|HR|p:1|aacp:1.1|return:AGENT' }],
    ['FETCH|HR|return:A|aacp:1.1', 'missing-p', { 'Add "p:2"': 'FETCH|HR|return:A|aacp:1.1|p:2' }],
    ['FETCH|HR|return:A|p:9|aacp:1.1', 'bad-priority', { 'Replace with "1"': `FETCH|HR${TAIL}` }],
    ['FETCH|HR|return:A|p:1|aacp:1.0', 'version-mismatch', { 'Replace with "1.1"': `FETCH|HR${TAIL}` }],
    [`FETCH|HR${TAIL}||res:x`, 'empty-field', { 'Remove "|"': `FETCH|HR${TAIL}|res:x` }],
    [`FETCH|HR${TAIL}|p:2`, 'duplicate-key', { 'Remove "|p:2"': `FETCH|HR${TAIL}` }],
    [`FETCH|HR${TAIL}|Res:x`, 'key-case', { 'Replace with "res"': `FETCH|HR${TAIL}|res:x` }],
    [
      `FETCH | HR${TAIL}|res : x`,
      'whitespace',
      { 'Remove the white space around the tokens': `FETCH|HR${TAIL}|res:x` },
    ],
    [
      `FETCH|HR${TAIL}|sentiment:angry`,
      'sentiment-without-tone',
      { 'Add "tone:formal"': `FETCH|HR${TAIL}|sentiment:angry|tone:formal` },
    ],
    [`FETCH|HR${TAIL}|ltv:5`, 'ltv-without-ccy', { 'Add "ccy:EUR"': `FETCH|HR${TAIL}|ltv:5|ccy:EUR` }],
    [`FETCH|HR${TAIL}|amt:5|ccy:eur`, 'currency-form', { 'Replace with "EUR"': `FETCH|HR${TAIL}|amt:5|ccy:EUR` }],
  ])('fixes %s', async (text, code, fixes) => {
    expect(await actionsFor(await client.open('fix.aacp', text), code)).toMatchObject(fixes);
  });

  it('explains, completes, formats, colours and lists packets', async () => {
    const file = await client.open(
      'all.aacp',
      'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary\nF\nFETCH|\nFETCH|HR|r\nFETCH|HR|return:\nFETCH|HR|risk:\nFETCH|HR|p:1|aacp:1.1|return:A\n',
    );
    expect(await hoverAt(file, file.after('FET'))).toMatch(/Retrieve.*section 5\.1[\s\S]*Human Resources domain/);
    expect(await hoverAt(file, file.after('|p'))).toContain('section 4.2');
    expect(await hoverAt(file, file.after('|p:1'))).toContain('critical priority');
    const end = (line: number): Position => ({ line, character: file.text().split('\n')[line]!.length });
    expect(await wordsAt(file, end(1))).toContain('FETCH');
    expect(await wordsAt(file, end(2))).toEqual(['HR', 'FIN', 'SALES', 'LEGAL', 'IT', 'CS', 'MKT']);
    expect(await wordsAt(file, end(3))).toEqual(expect.arrayContaining(['return', 'res', 'risk']));
    expect(await wordsAt(file, end(4))).toContain('HR-Agent');
    expect(await wordsAt(file, end(5))).toEqual(['low', 'medium', 'high', 'critical']);
    const { textDocument } = file;
    const edits = await client.connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument,
      options: { tabSize: 2, insertSpaces: true },
    });
    expect(file.applied(edits!).split('\n').at(-2)).toBe('FETCH|HR|return:A|p:1|aacp:1.1');
    expect((await colorsOf(file)).slice(0, 6)).toEqual([
      ...[
        ['FETCH', 'keyword'],
        ['HR', 'namespace'],
        ['return', 'property'],
        ['HR-Agent', 'string'],
        ['p', 'property'],
        ['1', 'number'],
      ],
    ]);
    const symbols = (await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument,
    })) as DocumentSymbol[];
    expect(symbols[0]).toMatchObject({ name: 'FETCH|HR', detail: 'Retrieve, Human Resources' });
    expect(symbols[0]!.children!.map(({ name }) => name)).toEqual(['return', 'p', 'aacp', 'res']);
  });
});

describe('messages in other documents', () => {
  it('finds them in Markdown, but not in tables of it', async () => {
    const file = await client.open(
      'notes.md',
      '\u{1f600} Send `@bot>req:plan{nx:@s:plan}` now.\n\nFETCH|HR|return:A|p:1|aacp:1.1\n\n| A|B|c:d |\n|---|\n',
      'markdown',
    );
    const found = await file.diagnostics();
    expect(found.map(({ code, severity, range }) => [code, severity, file.slice(range)])).toEqual([['E1001', 2, '@']]);
    expect(Object.values(await actionsFor(file, 'E1001'))[0]).toContain('`@bot>req:plan{nx:\\@s\\:plan}` now');
    expect(await hoverAt(file, file.after('FETCH'))).toContain('section 5.1');
    expect(await hoverAt(file, file.after('Send'))).toBe('');
    const symbols = (await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument: file.textDocument,
    })) as DocumentSymbol[];
    expect(symbols.map(({ name }) => name)).toEqual(['@bot>req:plan', 'FETCH|HR']);
  });

  it('reads and writes the escapes of JSON', async () => {
    const file = await client.open(
      'log.json',
      '{"a": "@bot>req:x{n:\\\\@s|k:@t}", "b": "FETCH|HR|return:A|p:1"}\n',
      'json',
    );
    expect((await file.diagnostics()).map(({ code, range }) => [code, file.slice(range)])).toEqual([
      ['E1001', '@'],
      ['missing-aacp', ''],
    ]);
    expect(Object.values(await actionsFor(file, 'E1001'))[0]).toContain('"@bot>req:x{n:\\\\@s|k:\\\\@t}"');
    expect(Object.values(await actionsFor(file, 'missing-aacp'))[0]).toContain('"FETCH|HR|return:A|p:1|aacp:1.1"}');
    expect((await colorsOf(file)).slice(0, 6)).toEqual([
      ...[
        ['@bot', 'namespace'],
        ['req', 'keyword'],
        ['x', 'function'],
        ['n', 'property'],
        ['\\\\@', 'regexp'],
        ['s', 'string'],
      ],
    ]);
  });

  it('reads templates of TypeScript, whose interpolations stand for anything', async () => {
    const file = await client.open(
      'bot.ts',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text contains templates
      'const a = `@${agent}>req:x{k:${f({})}|n:\\\\@s|e:}[mid:${id},seq:1]`;\nconst b = `FETCH|HR|return:${to}|p:${p}|aacp:1.0|res:${v}`;\n// see `@a>r\n',
      'typescript',
    );
    expect((await file.diagnostics()).map(({ code, range }) => [code, file.slice(range)])).toEqual([
      ['E1001', '}'],
      ['version-mismatch', '1.0'],
    ]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text contains templates
    expect(Object.values(await actionsFor(file, 'E1001'))[0]).toContain('n:\\\\@s|e:~}[mid:${id}');
    expect(await hoverAt(file, file.after('>re'))).toContain('section 4.1');
    expect(await wordsAt(file, file.after('@a>r'))).toContain('req');
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the text contains templates
  it('shows interpolations as they are written', async () => {
    const long = 'y'.repeat(75);
    const file = await client.open(
      'shown.ts',
      [
        'f(`@${who}>req:${op}{k:${value}|n:a${list[`*`]}b|l:LONG${value}}[cid:${id}]`);'.replace('LONG', long),
        'f(`FETCH|HR|return:${to}|p:1|aacp:1.1|fmt:${fmt}|${key}:1`);',
        'f(`@a>req:x{k:1}[mid:${id}]`);',
        'f(`@a>req:x{n:1|n:${b}}`);',
      ].join('\n'),
      'typescript',
    );
    const placeholder = /q[a-p]{2}|xxx/i;
    const hovers = await Promise.all(
      ['${who', 'req:', '${value', '${list', 'FETCH', '${fmt', '${key'].map((part) => hoverAt(file, file.after(part))),
    );
    expect(hovers.join('')).not.toMatch(placeholder);
    expect(hovers[0]).toContain('`@${who}` is the agent');
    expect(hovers[3]).toContain('``a${list[`*`]}b``');
    expect(hovers[3]).toContain('n = "a\\$\\{list\\[\\`\\*\\`\\]\\}b"');
    expect(hovers[4]).toContain('Format: \\$\\{fmt\\}');
    expect(hovers[4]).toContain('\\$\\{key\\}: 1');
    const symbols = (await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument: file.textDocument,
    })) as DocumentSymbol[];
    expect(symbols[0]!.name).toBe('@${who}>req:${op}');
    expect(symbols[0]!.children!.map(({ detail }) => detail)).toEqual(['${value}', 'a${list[`*`]}b', `${long}$\{val`]);
    expect(symbols[1]!.children!.map(({ name, detail }) => `${name}:${detail}`)).toContain('fmt:${fmt}');
    expect(await wordsAt(file, file.after('`@a'))).toEqual(['@${who}', '@${to}', '@a']);
    expect(await wordsAt(file, file.after('k:${val'))).toEqual([]);
    expect(await targetOf(file, file.after('cid:${'))).toEqual(['2:21 ${id}']);
    expect(Object.keys(await actionsFor(file, 'E1001'))).toContain('Remove "n:${b}"');
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the text contains templates

  it('offers the canonical form', async () => {
    const file = await client.open('canonical.md', 'see `@a>req:x{k:007}` here\n', 'markdown');
    const range = file.rangeOf('req');
    const actions = await client.connection.sendRequest(CodeActionRequest.type, {
      textDocument: file.textDocument,
      range,
      context: { diagnostics: [] },
    });
    const [action] = actions as CodeAction[];
    expect(action).toMatchObject({ title: 'Write the message in canonical form', kind: 'refactor.rewrite' });
    expect(file.applied(action!.edit!.changes![file.uri]!)).toBe('see `@a>req:x{k:7}` here\n');
  });

  it('offers only the kinds of actions that are asked for', async () => {
    const file = await client.open('kinds.accp', '@a>reqq:x{k:007}\n');
    const { textDocument } = file;
    const [diagnostic] = await file.diagnostics();
    const kindsFor = async (only?: string[]): Promise<readonly (string | undefined)[]> => {
      const context = { diagnostics: [], ...(only && { only }) };
      const params = { textDocument, range: diagnostic!.range, context };
      return (await client.connection.sendRequest(CodeActionRequest.type, params))!.map(
        (action) => (action as CodeAction).kind,
      );
    };
    expect(await kindsFor()).toEqual(['quickfix', 'refactor.rewrite']);
    expect(await kindsFor([''])).toEqual(['quickfix', 'refactor.rewrite']);
    expect(await kindsFor(['quickfix'])).toEqual(['quickfix']);
    expect(await kindsFor(['source', 'refactor'])).toEqual(['refactor.rewrite']);
    expect(await kindsFor(['refactor.rewrite.line', 'quick', 'source.fixAll'])).toEqual([]);
  });
});

describe('grammars', () => {
  const GRAMMAR =
    '// A list.\nlist\n  = head:item tail:(_ "," _ @item)* { return [head, ...tail]; }\n\n// One item.\nitem "item"\n  = [a-z]i+\n\n_ = " "*\n';

  it('reports problems of Peggy in each rule, unused rules, and fixes them', async () => {
    const file = await client.open(
      'broken.peggy',
      'start = foo (bar\n\nfop = "a" baz\n\nother = "x"*\nother = ("y"*)*\n',
    );
    const found = (await file.diagnostics()).map(({ code, message, range }) => [
      code,
      String(message).split('\n')[0],
      file.slice(range),
    ]);
    expect(found).toEqual([
      ['grammar-syntax', expect.stringContaining('but end of the rule found'), ''],
      ['undefined-rule', 'Rule "baz" is not defined.', 'baz'],
      ['grammar-invalid', 'Rule "other" is already defined.', 'other'],
      ...['fop', 'other', 'other'].map((name) => ['unused-rule', expect.any(String), name]),
    ]);
    expect(await actionsFor(file, 'undefined-rule')).toEqual({ 'Add a rule "baz"': `${file.text()}\nbaz\n  = ""\n` });
    expect((await actionsFor(file, 'unused-rule'))['Remove the rule "fop"']).toBe(
      'start = foo (bar\n\nother = "x"*\nother = ("y"*)*\n',
    );
    const near = await client.open('near.peggy', 'start = itm\nitem = "a"\n');
    expect(await actionsFor(near, 'undefined-rule')).toMatchObject({
      'Replace with "item"': 'start = item\nitem = "a"\n',
    });
  });

  it('reports endless repetition and recursion', async () => {
    const file = await client.open('endless.peggy', 'start = ("a"*)* b\nb = b "x"\n');
    expect((await file.diagnostics()).map(({ message }) => message)).toEqual([
      expect.stringContaining('infinite loop'),
    ]);
  });

  it('reports the notices of the plugin', async () => {
    const file = await client.open('notice.peggy', 'start\n  = "a" { return eval("1"); }\n');
    const [notice] = await file.diagnostics();
    expect(notice).toMatchObject({ code: 'peggy-plugin', severity: 3, range: { start: { line: 1 } } });
    expect(String(notice!.message)).toContain('The parser is generated without a scanner');
  });

  it('explains, completes, finds and renames rules', async () => {
    const file = await client.open('list.peggy', GRAMMAR);
    const { textDocument } = file;
    expect(await file.diagnostics()).toEqual([]);
    expect(await hoverAt(file, file.after('head:it'))).toMatch(
      /item "item"\n {2}= \[a-z\]i\+\n[\s\S]*One item\.[\s\S]*Used 2 times/,
    );
    expect(await wordsAt(file, file.after('head:it'))).toEqual(['list', 'item', '_']);
    expect(await wordsAt(file, file.after('return [he'))).toEqual([]);
    expect(await targetOf(file, file.after('head:it'))).toEqual(['5:0 item']);
    const position = file.before('A list');
    const uses = (await client.connection.sendRequest(ReferencesRequest.type, {
      textDocument,
      position: file.after('head:it'),
      context: { includeDeclaration: false },
    })) as Location[];
    expect(uses.map(({ range }) => range.start.character)).toEqual([9, 29]);
    expect(
      await client.connection.sendRequest(PrepareRenameRequest.type, { textDocument, position: file.after('head:it') }),
    ).toMatchObject({ placeholder: 'item' });
    const edit = await client.connection.sendRequest(RenameRequest.type, {
      textDocument,
      position: file.after('head:it'),
      newName: 'element',
    });
    expect(file.applied(edit!.changes![file.uri]!)).toBe(
      GRAMMAR.replace('head:item', 'head:element').replace('@item', '@element').replace('\nitem "', '\nelement "'),
    );
    const refused = (newName: string) =>
      client.connection.sendRequest(RenameRequest.type, { textDocument, position: file.after('head:it'), newName });
    await expect(refused('list')).rejects.toThrow('already has a rule "list"');
    await expect(refused('two words')).rejects.toThrow('is not the name of a rule');
    await expect(refused('$one')).rejects.toThrow('is not the name of a rule');
    await expect(refused('class')).rejects.toThrow('reserved word');
    await expect(
      client.connection.sendRequest(RenameRequest.type, { textDocument, position, newName: 'x' }),
    ).rejects.toThrow('Only a rule');
  });

  it('reports a name that no rule can have, and reads the other rules', async () => {
    const file = await client.open('name.peggy', 'start = one one\n$one = "1"\none = "1"\nbad = zzz\n');
    const codes = (await file.diagnostics()).map(({ code, range }) => [code, range.start.line]);
    expect(codes).toContainEqual(['grammar-syntax', 1]);
    expect(codes).toContainEqual(['undefined-rule', 3]);
    expect(await hoverAt(file, { line: 0, character: 9 })).toContain('one');
  });

  it('colours, lists and formats rules', async () => {
    const file = await client.open(
      'layout.peggy',
      '{ let n = 0; }\nlist=head:item  /  "x"i   // c\n\n\n\nitem "one"\n=  [a-z]\n/ .   \n\n',
    );
    const { textDocument } = file;
    expect(await colorsOf(file)).toEqual([
      ...[
        ['list', 'function'],
        ['=', 'operator'],
        ['head', 'parameter'],
        [':', 'operator'],
        ['item', 'function'],
      ],
      ...[
        ['/', 'operator'],
        ['"x"i', 'string'],
        ['// c', 'comment'],
        ['item', 'function'],
        ['"one"', 'string'],
      ],
      ...[
        ['=', 'operator'],
        ['[a-z]', 'regexp'],
        ['/', 'operator'],
        ['.', 'operator'],
      ],
    ]);
    const symbols = (await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument,
    })) as DocumentSymbol[];
    expect(symbols.map(({ name, detail }) => [name, detail])).toEqual([
      ['initializer', ''],
      ['list', ''],
      ['item', 'one'],
    ]);
    const edits = await client.connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument,
      options: { tabSize: 2, insertSpaces: true },
    });
    expect(file.applied(edits!)).toBe('{ let n = 0; }\nlist = head:item / "x"i // c\n\nitem "one"\n  = [a-z]\n  / .\n');
  });
});

describe('settings', () => {
  const folder = scratchFolder();
  const registry = {
    schemas: {
      sales_report: {
        code: 'SR',
        version: 1,
        fields: ['period', 'revenue'],
        types: { revenue: 'decimal' },
        operations: ['forecast'],
      },
    },
  };

  it('uses a registry for completion and checks, and other rules at once', async () => {
    writeFileSync(path.join(folder.path, 'registry.json'), JSON.stringify(registry));
    const own = await startClient({
      initializationOptions: { registry: 'registry.json' },
      rootUri: pathToFileURL(folder.path).href,
    });
    const file = await own.open(
      'a.accp',
      '@a>req:forecst{schema:SR|revenu:1|revenue:lots}\n@a>req:x{schema:sr}\n@a>req:forecast{schema:SR|per}\n@a>req:plan{nx:@b}\n',
    );
    expect((await file.diagnostics()).map(({ code, range }) => [code, file.slice(range)])).toEqual([
      ['unknown-operation', 'forecst'],
      ['unknown-field', 'revenu'],
      ['E1004', 'lots'],
      ['unknown-operation', 'x'],
      ['E1003', 'sr'],
      ['E1001', '}'],
      ['E1001', '@'],
    ]);
    expect(await wordsAt(file, file.after('|per'), own)).toEqual(expect.arrayContaining(['period', 'revenue', 'pri']));
    expect(await wordsAt(file, file.after('schema:', 1), own)).toContain('SR');
    await own.connection.sendNotification(DidChangeConfigurationNotification.type, {
      settings: { pegwire: { dialect: 'lenient' } },
    });
    await file.change({ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, text: '' });
    expect((await file.diagnostics()).some(({ range }) => range.start.line === 3)).toBe(false);
    expect(own.shown).toEqual([]);
    expect(await own.close()).toBe(0);
  });

  it('reads the registry again when its file changes', async () => {
    const uri = pathToFileURL(path.join(folder.path, 'changing.json')).href;
    const write = (operation: string) =>
      folder.write('changing.json', JSON.stringify({ schemas: {}, operations: [operation] }));
    write('old');
    const initializationOptions = { registry: 'changing.json' };
    const own = await startClient({ initializationOptions, rootUri: pathToFileURL(folder.path).href });
    const file = await own.open('a.accp', '@a>req:new{}\n');
    expect(await file.diagnostics()).toHaveLength(1);
    write('new');
    await own.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [{ uri, type: 2 }] });
    await file.change({ range: { start: { line: 1, character: 0 }, end: { line: 1, character: 0 } }, text: '# c' });
    expect(await file.diagnostics()).toEqual([]);
    expect(await own.close()).toBe(0);
  });

  it('shows what is wrong with settings, and works without them', async () => {
    const initializationOptions = { registry: 'missing.json', dialect: 'loose', privateKeys: 7 };
    const own = await startClient({ initializationOptions, rootUri: pathToFileURL(folder.path).href });
    const file = await own.open('a.accp', '@a>req:x{\n');
    expect(await file.diagnostics()).toHaveLength(1);
    expect(own.shown).toEqual([
      'pegwire: pegwire.privateKeys must be a list of strings.',
      'pegwire: pegwire.dialect must be one of strict, lenient.',
      'pegwire: The registry missing.json is not used: it cannot be read (ENOENT).',
    ]);
    expect(await own.close()).toBe(0);
  });

  it('shows once that a setting is unknown, but not that of the extension', async () => {
    const own = await startClient({ initializationOptions: { dialekt: 'lenient', dialect: null } });
    const configure = (pegwire: unknown) =>
      own.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: { pegwire } });
    const known = 'the settings are dialect, profile, privateKeys, registry, embedded.';
    await configure({ languages: ['markdown'], server: { path: '' }, trace: { server: 'off' }, embeded: 'off' });
    await own.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [] });
    await configure('lenient');
    await configure({ embedded: 'off' });
    // The answer comes after what the server has shown.
    const file = await own.open('a.accp', '@a>req:x{\n');
    expect(await file.diagnostics()).toHaveLength(1);
    expect(own.shown).toEqual([
      `pegwire: pegwire.dialekt is not a setting; ${known}`,
      `pegwire: pegwire.embeded is not a setting; ${known}`,
      'pegwire: The settings must be an object.',
    ]);
    expect(await own.close()).toBe(0);
  });

  it('registers formatting for messages and grammars only, if the client can', async () => {
    const formatting = { dynamicRegistration: true };
    const own = await startClient({ capabilities: { textDocument: { formatting, rangeFormatting: formatting } } });
    expect(own.initialized.capabilities.documentFormattingProvider).toBeUndefined();
    expect(await own.close()).toBe(0);
  });
});
