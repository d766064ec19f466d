import { describe, expect, test } from 'vitest';
import { anchorsOf, headingsOf, linksOf, replaceLinks, slug } from '../../scripts/docs/markdown.js';
import { markdownProblems } from '../../scripts/links.js';

describe('Markdown', () => {
  test('anchors are those of GitHub', () => {
    expect(slug('Connect: HTTP, WebSocket, MCP & A2A')).toBe('connect-http-websocket-mcp--a2a');
    const text =
      '# `parseFrame()`\n\n## A *b* [c](d.md)\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n\n<a id="own"></a>\n';
    expect([...anchorsOf(text)]).toEqual(['parseframe', 'a-b-c', 'twice', 'twice-1', 'own']);
  });

  test('a heading has its text without marks', () => {
    expect(headingsOf('## `E1001` \\<here\\>\n')).toMatchObject([
      { level: 2, text: 'E1001 <here>', start: 0, end: 20 },
    ]);
  });

  test('links in code and comments are none', () => {
    const text = '[a](a.md) `[b](b.md)`\n\n~~~\n[c](c.md)\n~~~\n\n<!-- [d](d.md) -->\n\n[e]: e.md\n![f](f.svg "F")\n';
    expect(linksOf(text).map(({ target, line }) => [target, line])).toEqual([
      ['a.md', 1],
      ['e.md', 9],
      ['f.svg', 10],
    ]);
    expect(replaceLinks(text, (target) => `/${target}`)).toBe(
      text.replace('(a.md', '(/a.md').replace(': e.md', ': /e.md').replace('(f.svg', '(/f.svg'),
    );
  });
});

test('every link of the Markdown files leads to a file and a heading of it', async () => {
  expect(await markdownProblems()).toEqual([]);
});
