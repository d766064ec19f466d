/** The playground in Chromium: what a visitor does, with the files that `pegwire playground` serves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { packPlayground } from '../../scripts/playground.js';
import { readFiles, servePlayground } from '../../src/cli/commands/playground.js';
import { loadTokenCounter } from '../../src/tokens/index.js';
import { chromium, chromiumHint, PAGE_MS } from '../helpers/chromium.js';

/** The maximum of the files of the first load, compressed, without the tables of tokenizers. */
const FIRST_LOAD = 145_000;
/** The maximum of the worker's own file, compressed. */
const WORKER_START = 23_000;
/** The maximum of all files in the package. */
const PACKAGE = 510_000;
/** The maximum length of one result as JSON, for any text. */
const RESULT = 120_000;

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Axe {
  readonly run: () => Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly impact: string | null;
      readonly nodes: readonly { readonly html: string }[];
    }[];
  }>;
}

/** Messages between page and worker, which a script in the page counts. */
interface Traffic {
  sent: number;
  received: number;
  longest: number;
}

/** Counts the messages between the page and its worker, as `traffic`. */
const COUNT_MESSAGES = `
  globalThis.traffic = { sent: 0, received: 0, longest: 0 };
  globalThis.Worker = class extends Worker {
    constructor(url, options) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        traffic.received++;
        traffic.longest = Math.max(traffic.longest, JSON.stringify(data).length);
      });
    }
    postMessage(message) {
      traffic.sent++;
      super.postMessage(message);
    }
  };
`;

/** Pastes a text into the editor that has the focus. Source text, since tests are compiled without the types of browsers. */
const PASTE = new Function(
  'pasted',
  `const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', pasted);
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));`,
) as (pasted: string) => void;

const CONTROLLED = `navigator.serviceWorker.ready.then(
  () => navigator.serviceWorker.controller ?? new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true })),
).then(() => undefined)`;

describe.skipIf(chromium === undefined)(`the playground in Chromium${chromiumHint}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-playground-test-'));
  let browser: Browser;
  let context: BrowserContext;
  let server: Awaited<ReturnType<typeof servePlayground>>;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    await packPlayground(folder);
    server = await servePlayground(readFiles(folder), 0);
    browser = await driver.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    context = await browser.newContext({ viewport: { width: 1024, height: 768 }, permissions: ['clipboard-write'] });
    context.setDefaultTimeout(15_000);
    context.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(error.error().message));
    context.on('request', (request) => requests.push(request.url()));
    await context.addInitScript({ content: COUNT_MESSAGES });
  }, PAGE_MS);

  afterEach(() => {
    // Nothing but files of the server, and no violation of the policy.
    expect(requests.filter((url) => !/^(blob|data):/.test(url) && !url.startsWith(server.url))).toEqual([]);
    // Editing in Chromium, and axe, write style attributes, which the policy refuses.
    const others = complaints.splice(0).filter((complaint) => !complaint.startsWith('Applying inline style'));
    expect(others).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(fragment = ''): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${server.url}${fragment}`);
    await page.waitForSelector('main .tree li');
    return page;
  }

  const editor = (page: Page, panel = 'accp') => page.locator(`#panel-${panel} .cm-content`).first();
  const textOf = (page: Page, panel = 'accp') =>
    page
      .locator(`#panel-${panel} .cm-line`)
      .allTextContents()
      .then((lines) => lines.join('\n'));

  async function type(page: Page, text: string, panel = 'accp'): Promise<void> {
    await editor(page, panel).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  }

  async function tab(page: Page, name: string): Promise<void> {
    await page.click(`#tab-${name}`);
    await page.waitForSelector(`#panel-${name} .cm-content`);
  }

  test('shows tree, canonical form, English and tokens of what is typed', async () => {
    const page = await open();
    await type(page, '@bot>done:sum{total:007|d:[1,2]}[seq:2,mid:m9]');
    await page.locator('#panel-accp .english', { hasText: 'Agent bot reports completion of sum' }).waitFor();
    const panel = page.locator('#panel-accp');
    expect(await panel.locator('pre code').textContent()).toBe('@bot>done:sum{total:7|d:[1,2]}[mid:m9,seq:2]');
    expect(await panel.locator('.tree li').allTextContents()).toContain('d2 itemsdata');
    await panel.locator('.hint', { hasText: 'o200k_base, exact' }).waitFor();
    const { count } = await loadTokenCounter('o200k_base');
    const tokens = String(count('@bot>done:sum{total:007|d:[1,2]}[seq:2,mid:m9]'));
    expect(await panel.locator('.count .number').first().textContent()).toBe(tokens);
    expect(await panel.locator('.count .name').allTextContents()).toEqual([
      'this frame',
      'JSON',
      'JSON, indented',
      'plain English',
    ]);
    await page.close();
  });

  test('underlines an error, and a click takes its fix', async () => {
    const page = await open();
    const before = await textOf(page);
    await page.getByRole('button', { name: 'Break it' }).click();
    await page.waitForSelector('#panel-accp .cm-lintRange-error');
    expect(await page.locator('#panel-accp .problems li').textContent()).toContain('E1001');
    expect(await page.locator('#panel-accp .cm-lintRange-error').textContent()).toBe('@');
    await page.getByRole('button', { name: 'Fix: Escape "@strategy:plan"' }).click();
    await page.waitForSelector('#panel-accp .cm-lintRange-error', { state: 'detached' });
    expect(await textOf(page)).toBe(before.replace('}[', '|nx:\\@strategy\\:plan}['));
    await page.locator('#panel-accp .hint', { hasText: 'All 2 frames are valid.' }).waitFor();
    await page.close();
  });

  test('switches dialects, also as a fix', async () => {
    const page = await open();
    await type(page, '@a>req:x{nx:@strategy:plan}');
    await page.getByRole('button', { name: 'Fix: Parse in the lenient dialect' }).click();
    await page.locator('#panel-accp .hint', { hasText: 'The frame is valid.' }).waitFor();
    await page.getByLabel('Dialect').selectOption('strict');
    await page.waitForSelector('#panel-accp .cm-lintRange-error');
    await page.close();
  });

  test('is shared by a link, whose text is in the fragment', async () => {
    const page = await open();
    await type(page, '@shared>req:link{n:1}');
    await page.locator('#panel-accp .english', { hasText: 'Agent shared' }).waitFor();
    await page.getByLabel('Dialect').selectOption('lenient');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.locator('#status', { hasText: 'The link is' }).waitFor();
    const link = page.url();
    expect(link).not.toContain('shared');
    await page.close();
    const other = await open(link.slice(link.indexOf('#')));
    await other.locator('#panel-accp .english', { hasText: 'Agent shared' }).waitFor();
    expect(await textOf(other)).toBe('@shared>req:link{n:1}');
    expect(await other.getByLabel('Dialect').inputValue()).toBe('lenient');
    await other.close();
    // A damaged link is reported.
    const invalid = await open(link.slice(link.indexOf('#'), -20));
    await invalid.getByText('The link is damaged or incomplete').waitFor();
    expect(await textOf(invalid)).toContain('@planner');
    await invalid.close();
  });

  test.each([
    ['accp', 'Type frames, one per line', '@a>req:x{n:1}'],
    ['aacp', 'Type packets, one per line', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['formats', 'Type a JSON document', '{"a":1}'],
    ['grammar', 'Type a grammar', 'a = "x"'],
    ['session', 'Type messages as JSON', '{"agent":"a","intent":"req","operation":"x"}'],
  ])('shows what to do in place of the results of an empty editor: %s', async (name, hint, text) => {
    const page = await open();
    await tab(page, name);
    const panel = page.locator(`#panel-${name}`);
    const cards = panel.locator('section.card:visible');
    await cards.first().waitFor();
    await panel.getByText(hint).waitFor({ state: 'hidden' });
    await editor(page, name).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await panel.getByText(hint).waitFor();
    expect(await cards.count()).toBe(0);
    const problems = await panel.locator('.problems li').allTextContents();
    expect(problems).toEqual(
      name === 'grammar' ? [expect.stringContaining('The grammar has no rulesHelp: write')] : [],
    );
    // The results of the text before do not return with an invalid one.
    await page.keyboard.insertText('{');
    await panel.locator('.problems li').first().waitFor();
    if (name === 'accp' || name === 'formats') expect(await cards.count()).toBe(0);
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
    await cards.first().waitFor();
    await page.close();
  });

  test.each([
    ['10 MB on one line', () => `@a>b:c{k:${'x'.repeat(10_000_000)}}`, 'The text has 10000010 characters'],
    ['100,000 brackets', () => `@a>b:c{k:${'['.repeat(100_000)}`, 'Nesting is deeper than 5'],
    ['a million lines', () => '@a>b:c{}\n'.repeat(1_000_000), 'Only the first'],
  ] as const)(
    'survives %s',
    async (_name, text, message) => {
      const page = await open();
      // Pasted: the keyboard takes a minute for so much text.
      await editor(page).focus();
      await page.keyboard.press('Control+A');
      await page.evaluate(PASTE, text());
      await page.locator('#panel-accp .pane').first().getByText(message).first().waitFor({ timeout: 60_000 });
      // The page continues with the next text.
      await type(page, '@after>req:that{n:1}');
      await page.locator('#panel-accp .english', { hasText: 'Agent after' }).waitFor();
      const { longest } = await page.evaluate<Traffic>('traffic');
      expect(longest).toBeLessThanOrEqual(RESULT);
      await page.close();
    },
    PAGE_MS,
  );

  test('asks the worker once for a keystroke, and gets a small answer', async () => {
    const page = await open();
    await page.locator('#panel-accp .hint', { hasText: 'o200k_base, exact' }).waitFor();
    await type(page, '@a>req:x{n:1}');
    await page.locator('#panel-accp .english', { hasText: 'Agent a ' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.waitForTimeout(200);
    await page.evaluate('void Object.assign(traffic, { sent: 0, received: 0, longest: 0 })');
    await page.keyboard.type('2');
    await page.locator('#panel-accp .english', { hasText: 'n = 12' }).waitFor();
    const traffic = await page.evaluate<Traffic>('traffic');
    expect(traffic.sent).toBe(1);
    expect(traffic.longest).toBeLessThanOrEqual(2_500);
    await page.close();
  });

  test('completes words, and explains the node under the pointer', async () => {
    const page = await open();
    await type(page, '@a>');
    await page.waitForTimeout(100);
    await page.keyboard.type('d');
    await page.locator('.cm-tooltip-autocomplete', { hasText: 'reports completion of' }).waitFor();
    await page.waitForTimeout(100);
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(page)).toBe('@a>done:');
    await type(page, '@a>done:x{pri:high}');
    await page.locator('#panel-accp .english', { hasText: 'priority' }).waitFor();
    await page.locator('#panel-accp .tok-propertyName').first().hover();
    await page.locator('.cm-meaning', { hasText: 'priority' }).waitFor();
    await page.close();
  });

  test('can be used with the keyboard alone', async () => {
    const page = await open();
    await page.locator('#tab-accp').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('#panel-aacp .tree li');
    expect(await page.locator('#tab-aacp').getAttribute('aria-selected')).toBe('true');
    const selected = page.locator('[role=tab][aria-selected=true]');
    await page.keyboard.press('End');
    expect(await selected.textContent()).toBe('Session');
    await page.keyboard.press('ArrowRight');
    expect(await selected.textContent()).toBe('ACCP');
    await page.keyboard.press('ArrowLeft');
    expect(await selected.textContent()).toBe('Session');
    await page.keyboard.press('Home');
    expect(await selected.textContent()).toBe('ACCP');
    expect(await page.evaluate('document.activeElement.id')).toBe('tab-accp');
    await page.locator('#panel-accp .tree li').first().focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#panel-accp .cm-marked').allTextContents()).toEqual(['planner']);
    await page.keyboard.press('Enter');
    expect(await page.evaluate("document.activeElement.classList.contains('cm-content')")).toBe(true);
    expect(await page.evaluate('getSelection().toString()')).toBe('planner');
    await page.close();
  });

  test('validates packets, fixes them, and encodes forms', async () => {
    const page = await open();
    await tab(page, 'aacp');
    await type(page, 'FECH|HR|return:A|p:1|aacp:1.1', 'aacp');
    await page.getByRole('button', { name: 'Fix: Replace with "FETCH"' }).click();
    await page.locator('#panel-aacp .english', { hasText: 'Retrieve (Human Resources domain).' }).waitFor();
    await page.getByText('Fill in a form instead').click();
    await page.getByLabel('Workflow').selectOption('InvoiceEncoder');
    await page.getByRole('button', { name: 'Encode' }).click();
    await expect.poll(() => textOf(page, 'aacp')).toMatch(/^[A-Z]+\|FIN\|return:/);
    await page.close();
  });

  test('compares formats with several tokenizers', async () => {
    const page = await open();
    await tab(page, 'formats');
    const panel = page.locator('#panel-formats');
    await panel.locator('.hint', { hasText: 'Tokens in o200k_base, exact' }).waitFor();
    expect(await panel.locator('.count .name').allTextContents()).toEqual([
      'JSON',
      'JSON, indented',
      'TOON',
      'ACCP',
      'ACCP, compact1',
      'ACCP, compact1, later',
      'text for models',
    ]);
    await panel.getByLabel('Tokenizer').selectOption('r50k_base');
    await panel.locator('.hint', { hasText: 'Tokens in r50k_base, exact' }).waitFor();
    await panel.getByRole('button', { name: 'Break it' }).click();
    await panel.getByRole('button', { name: 'Fix: Insert ]' }).click();
    await expect.poll(() => panel.locator('.problems li').count()).toBe(0);
    await type(page, '{"id":9007199254740993,"id":1.50}', 'formats');
    await panel.getByText('9007199254740993 is rounded to 9007199254740992. A key is repeated').waitFor();
    await type(page, '{"intent":"req","operation":"x","extra":"kept"}', 'formats');
    await panel.locator('pre', { hasText: 'agent>done:data{intent:req|operation:x|extra:kept}' }).first().waitFor();
    await page.close();
  });

  test(
    'compiles any grammar in a frame without an origin, and outlives one that never ends',
    async () => {
      const page = await open();
      await tab(page, 'grammar');
      const panel = page.locator('#panel-grammar');
      await panel.locator('pre', { hasText: /^9$/ }).waitFor();
      await panel.locator('.diagram img').waitFor();
      expect(await panel.locator('.scroll button').count()).toBe(30);
      expect(await panel.locator('tbody tr').allTextContents()).toContain('value1113 of 3');
      for (const [format, part] of [
        ['gbnf', 'root ::='],
        ['lark', 'start:'],
        ['regex', 'recursive'],
        ['textmate', 'constant.numeric.number'],
      ] as const) {
        await panel.getByLabel('Format').selectOption(format);
        await panel.locator('.card', { hasText: 'Export' }).getByText(part).first().waitFor();
      }
      await panel.getByRole('button', { name: 'Break it' }).click();
      await panel.locator('.cm-lintRange-error').first().waitFor();
      await panel.getByRole('button', { name: 'Fix: Remove ")"' }).click();
      await panel.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
      await panel.getByRole('button', { name: 'Measure' }).click();
      await panel.getByText(/times as fast/).waitFor();
      // Code of the grammar has no network and no page.
      await type(
        page,
        'a = "x" { return [typeof document, origin, fetch("/").then(() => 1, () => 2) && 0]; }',
        'grammar',
      );
      const text = panel.locator('.cm-content').nth(1);
      await text.focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText('x');
      await panel.locator('pre', { hasText: '"undefined"' }).waitFor();
      expect(JSON.parse((await panel.locator('pre').first().textContent())!)).toEqual(['undefined', 'null', 0]);
      // The policy of the frame has reported the request.
      expect(
        complaints.splice(0).every((complaint) => /Content Security Policy|Fetch API cannot load/.test(complaint)),
      ).toBe(true);
      // Nor can it load scripts, whose addresses could carry data.
      const load = `import("${server.url}leak.js").catch(() => 0); importScripts("${server.url}leak.js");`;
      await type(
        page,
        `a = "x" { try { ${load} return "loaded"; } catch (thrown) { return thrown.name; } }`,
        'grammar',
      );
      await panel.locator('pre', { hasText: 'NetworkError' }).waitFor();
      expect(complaints.splice(0).some((complaint) => /Content Security Policy/.test(complaint))).toBe(true);
      // What it posts itself neither reaches the page in numbers nor keeps it busy.
      await type(page, 'a = "x" { for (;;) postMessage({ id: 1, result: "z".repeat(1e5) }); }', 'grammar');
      await panel
        .getByText('Stopped after 4 s: the grammar does not end on this text.')
        .first()
        .waitFor({ timeout: 30_000 });
      await type(page, 'a = "x" { for (;;); }', 'grammar');
      await type(page, 'a = "x" { return "well"; }', 'grammar');
      await panel.locator('pre', { hasText: 'well' }).waitFor();
      await page.close();
    },
    PAGE_MS,
  );

  test('stops a grammar that never ends for the next edit, and explains faults of grammars', async () => {
    const page = await open();
    await tab(page, 'grammar');
    const panel = page.locator('#panel-grammar');
    await panel.locator('pre', { hasText: /^9$/ }).waitFor();
    await panel.getByLabel('Format').selectOption('gbnf');
    await panel.locator('pre', { hasText: 'root ::=' }).waitFor();
    await page.evaluate(`globalThis.shown = []; new MutationObserver(() => shown.push(document.querySelector('#panel-grammar .problems').textContent))
      .observe(document.querySelector('#panel-grammar .problems'), { childList: true });`);
    await type(page, 'a = "x" { for (;;); }', 'grammar');
    // The fixes of the text execute the grammar. Its export, which does not, arrives before.
    await panel.locator('pre', { hasText: 'root ::= "x"' }).waitFor();
    await type(page, 'a = .* { return "well"; }', 'grammar');
    await panel.locator('pre', { hasText: 'well' }).waitFor();
    // The grammar that never ends has not reached its limit.
    expect(await page.evaluate("shown.join(' ')")).not.toContain('Stopped');
    await type(page, 'a = b\nb = a "x" / "y"', 'grammar');
    await panel
      .getByText('The rule "a" calls itself before it has read any text (left recursion: a -> b -> a)')
      .first()
      .waitFor();
    expect(await panel.locator('.problems .place').textContent()).toBe('2:5');
    expect(await panel.locator('.problems .help').textContent()).toContain('begin the rule with what reads text');
    await type(page, 'a = ("x"?)*', 'grammar');
    await panel.getByText('The repeated part can match the empty text').first().waitFor();
    await page.close();
  });

  test('simulates a session with a lost frame', async () => {
    const page = await open();
    await tab(page, 'session');
    const panel = page.locator('#panel-session');
    await panel.getByText('8 frames: 6 accepted, 1 rejected, 1 lost.').waitFor();
    expect(await panel.locator('svg text', { hasText: 'sync:resync{from:2}' }).count()).toBe(1);
    await panel.locator('g[role=button]').nth(2).focus();
    await page.keyboard.press('Enter');
    await panel.getByText('dev: rejected with E3003').waitFor();
    await panel.getByLabel('Line 2: lose the frame').click();
    await panel.getByText('4 frames: 4 accepted, 0 rejected, 0 lost.').waitFor();
    await page.close();
  });

  test('works offline once it is loaded', async () => {
    const page = await open();
    await page.evaluate(CONTROLLED);
    await page.waitForSelector('iframe', { state: 'attached' });
    await page.waitForTimeout(300);
    await context.setOffline(true);
    await tab(page, 'grammar');
    await page.locator('#panel-grammar pre', { hasText: /^9$/ }).waitFor();
    await page.reload();
    await page.waitForSelector('main .tree li');
    await tab(page, 'session');
    await page.getByText('8 frames: 6 accepted').waitFor();
    await context.setOffline(false);
    await page.close();
    complaints.splice(0);
  });

  test.each([
    [390, 'light', ['accp', 'aacp', 'formats', 'grammar', 'session']],
    [1024, 'light', ['session']],
    [1920, 'dark', ['accp', 'grammar']],
  ] as const)(
    'has no serious fault for axe, and fits, at %i pixels (%s)',
    async (width, colorScheme, names) => {
      const page = await open();
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      // The policy keeps scripts from being added to the page, but not from being evaluated by the driver.
      for (const name of names) {
        await tab(page, name);
        if (name === 'aacp') await page.getByText('Fill in a form instead').click();
        if (name !== 'session') await page.getByRole('button', { name: 'Break it' }).click();
        await page.waitForTimeout(300);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        if (name === names[0]) await page.evaluate(readAxe());
        const { violations } = await page.evaluate<Awaited<ReturnType<Axe['run']>>>('axe.run()');
        expect(
          violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => `${name}: ${id}: ${nodes[0]?.html}`),
        ).toEqual([]);
      }
      await page.close();
      // axe measures with styles, which the policy refuses.
      expect(complaints.splice(0).filter((complaint) => !complaint.startsWith('Applying inline style'))).toEqual([]);
    },
    PAGE_MS,
  );

  test('keeps its budgets', async () => {
    const page = await context.newPage();
    const loaded = new Map<string, number>();
    page.on('response', (response) => {
      if (!response.url().includes('/tokenizers/'))
        loaded.set(response.url(), Number(response.headers()['content-length'] ?? 0));
    });
    await page.goto(server.url);
    await page.waitForSelector('main .tree li');
    const names = [...loaded.keys()]
      .filter((url) => !/service-worker|tokenizer-|installed-counter/.test(url))
      .map((url) => new URL(url).pathname.slice(1));
    await page.close();
    const sizeOf = (name: string) => statSync(path.join(folder, `${name || 'index.html'}.gz`)).size;
    const sum = names.reduce((total, name) => total + sizeOf(name), 0);
    expect(sum).toBeGreaterThan(50_000);
    expect(sum).toBeLessThanOrEqual(FIRST_LOAD);
    const worker = names.find((name) => name.includes('worker-'));
    expect(sizeOf(worker!)).toBeLessThanOrEqual(WORKER_START);
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gz'));
    expect(all.reduce((total, name) => total + statSync(path.join(folder, name)).size, 0)).toBeLessThanOrEqual(PACKAGE);
  });
});

function readAxe(): string {
  return `${readFileSync(AXE, 'utf8')}; undefined`;
}
