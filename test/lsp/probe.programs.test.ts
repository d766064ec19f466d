import { expect, it } from 'vitest';
import { CodeActionRequest, CompletionRequest, HoverRequest } from 'vscode-languageserver-protocol';
import { startClient } from './client.js';

it('probe', async () => {
  const client = await startClient();
  console.log(JSON.stringify(client.initialized).slice(0, 300));
  const file = await client.open(
    'a.accp',
    '# c\n@bot>req:plan{nx:@strategy:plan}\n@a>rek:x{k:1}\n@a>req:x{k:}\n@a>req:x{k:1\n@a>req:x{a b:1}\n',
  );
  const found = await file.diagnostics();
  for (const one of found) {
    console.log(one.message, JSON.stringify(one.range));
    const actions = await client.connection.sendRequest(CodeActionRequest.type, {
      ...file,
      range: one.range,
      context: { diagnostics: [one] },
    } as never);
    console.log(
      (actions as any[]).map(
        (a) => a.title + ' => ' + file.applied(a.edit.changes[file.uri]).split('\n')[one.range.start.line],
      ),
    );
  }
  console.log(client.takeParsed());
  console.log(
    JSON.stringify(
      await client.connection.sendRequest(HoverRequest.type, {
        textDocument: file.textDocument,
        position: file.after('re', 0),
      }),
    ),
  );
  const g = await client.open(
    'a.peggy',
    '// hi\nstart = foo bar* /* x */\n\n// the foo\nfoo "Foo" = "a" { return 1; }\nbaar = [a-z]i\nunused = start ""*\n',
  );
  for (const one of await g.diagnostics()) console.log(one.code, one.message, g.slice(one.range));
  console.log(
    JSON.stringify(
      await client.connection.sendRequest(HoverRequest.type, {
        textDocument: g.textDocument,
        position: g.after('= f', 0),
      }),
    ),
  );
  const md = await client.open(
    'a.md',
    'Say `@bot>req:plan{nx:@strategy:plan}` and "FETCH|HR|return:A|aacp:1.1|p:9".\n',
    'markdown',
  );
  for (const one of await md.diagnostics()) console.log(one.code, one.message, md.slice(one.range));
  const tsf = await client.open(
    'a.ts',
    'const a = `@${agent}>req:x{k:${v}|nx:\\\\@s}[mid:${id()},seq:1]`;\nconst b = "@a>req:x{nx:\\\\@s|b:@k}";\nconst c = `FETCH|HR|return:${a}|p:${p}|aacp:${v}`;\n',
    'typescript',
  );
  for (const one of await tsf.diagnostics()) console.log(one.code, one.message, tsf.slice(one.range));
  expect(await client.close()).toBe(0);
});
