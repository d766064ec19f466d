/** The page of the inspector in Chromium. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Feed, type FeedOptions } from '../../src/inspector/feed.js';
import { type Inspector, type InspectorOptions, startInspector } from '../../src/inspector/server.js';
import { checkText, recordsOf } from '../../src/inspector/sources.js';
import { chromium, chromiumHint } from '../helpers/chromium.js';
import { builtPage, closePages, faults, openPage, requests } from '../helpers/inspector.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Compressed, in bytes. */
const BUDGET = 60_000;

let folder: string;
const inspectors: Inspector[] = [];

beforeAll(async () => {
  folder = await builtPage();
});
afterEach(async () => {
  const errors = await closePages();
  await Promise.all(inspectors.splice(0).map(({ close }) => close()));
  expect(errors).toEqual([]);
});

async function inspect(feed: Feed, options: Partial<InspectorOptions> = {}): Promise<string> {
  const settings = { feed, folder, allowSend: false, source: 'test.jsonl', protocol: 'any', port: 0 } as const;
  const inspector = await startInspector({ ...settings, ...options });
  inspectors.push(inspector);
  return inspector.url;
}

function feedOf(lines: readonly string[], options: FeedOptions = {}): Feed {
  const feed = new Feed({ check: checkText, ...options });
  for (const line of lines) for (const record of recordsOf(line)) feed.add(record);
  return feed;
}

const LOG = readFileSync(path.resolve('test/inspector/fixtures/log.jsonl'), 'utf8').split('\n');
const row = (page: Page, text: string) => page.getByRole('option').filter({ hasText: text }).first();
const count = (page: Page) => page.locator('p.status');

async function axe(page: Page): Promise<readonly unknown[]> {
  // The policy of the page blocks scripts that are added to it.
  await page.evaluate(`${AXE}\n;void 0`);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

test('the page is smaller than its budget', () => {
  const sizes = ['index.html', 'main.js', 'main.css'].map(
    (name) => readFileSync(path.join(folder, `${name}.gz`)).length,
  );
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(BUDGET);
});

describe.skipIf(chromium === undefined)(`the page${chromiumHint}`, () => {
  test('shows the messages of a log, filters them, and opens one', async () => {
    const page = await openPage(await inspect(feedOf(LOG)));
    await row(page, 'job.completed').waitFor();
    expect(page.url()).not.toContain('token');
    const all = await count(page).textContent();
    expect(all).toMatch(/^(\d+) of \1 messages$/);

    await page.getByRole('searchbox').fill('type:permission.*');
    await row(page, 'permission.grant').waitFor();
    await expect.poll(() => count(page).textContent()).toMatch(/^2 of /);
    await row(page, 'permission.request').click();
    const detail = page.getByRole('article');
    expect(await detail.textContent()).toContain('payment.refund.create');
    await detail.getByRole('tab', { name: 'Text' }).click();
    expect(await detail.locator('.wire').textContent()).toContain('"type":"permission.request"');
    await detail.getByRole('tab', { name: 'English' }).click();
    expect(await detail.locator('.english').textContent()).toMatch(/^The server sends permission\.request about job/);
    await detail.getByRole('tab', { name: 'Tokens' }).click();
    await expect.poll(() => detail.locator('.tokens').textContent()).toMatch(/tokens\d+/);

    await detail.getByTitle('Show the messages with this value').nth(3).click();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toMatch(/^id:job_/);
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Errors').check();
    await expect.poll(() => count(page).textContent()).toMatch(/^[1-9]\d? of /);
    await row(page, 'req:plan').click();
    expect(await page.getByRole('alert').textContent()).toContain('E1001');
  });

  test('is used with the keyboard', async () => {
    const page = await openPage(await inspect(feedOf(LOG)));
    await row(page, 'job.completed').waitFor();
    const list = page.getByRole('listbox');
    await list.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => list.getAttribute('aria-activedescendant')).toBe('row-0');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('ArrowUp');
    expect(await list.getAttribute('aria-activedescendant')).not.toBe('row-0');
    expect(await page.getByRole('article').count()).toBe(1);
    for (const [label, names] of [
      ['Panels', ['Message', 'Activity', 'Permissions', 'Send']],
      ['Views', ['Tree', 'Text', 'English', 'Tokens']],
    ] as const) {
      const selected = page.getByRole('tablist', { name: label }).locator('[aria-selected=true]');
      await selected.focus();
      for (const [key, index] of [
        ['End', 3],
        ['ArrowRight', 0],
        ['ArrowLeft', 3],
        ['Home', 0],
        ['ArrowRight', 1],
      ] as const) {
        await page.keyboard.press(key);
        await expect.poll(() => selected.textContent()).toBe(names[index]);
        expect(await page.locator(':focus').textContent()).toBe(names[index]);
        expect(await page.getByRole('tabpanel', { name: names[index] }).count()).toBe(1);
      }
      await page.keyboard.press('Home');
    }
  });

  test('shows messages as they arrive, and connects again to a server that was restarted', async () => {
    const feed = feedOf(['@a>req:first{k:1}']);
    const url = await inspect(feed);
    const page = await openPage(url);
    await row(page, 'req:first').waitFor();
    feed.add({ side: 'client', session: 'c1', text: '@a>req:second{k:1}' });
    await row(page, 'req:second').waitFor();
    await inspectors.pop()!.close();
    await page.getByText('Server lost').waitFor();
    const token = decodeURIComponent(url.split('token=')[1]!);
    await inspect(feedOf(['@a>req:third{k:1}']), { port: Number(new URL(url).port), token });
    await row(page, 'req:third').waitFor();
    expect(await row(page, 'req:first').count()).toBe(0);
    // The lost connection is reported to the console.
    faults.splice(0);
  });

  test('grows its tree of jobs, and replays the log', async () => {
    const page = await openPage(await inspect(feedOf(LOG)));
    await page.getByRole('tab', { name: 'Activity' }).click();
    const nodes = page.locator('.activity .node');
    await nodes.filter({ hasText: 'job refund completed' }).waitFor();
    const whole = await nodes.count();
    await page.getByRole('button', { name: 'Replay' }).click();
    const slider = page.getByRole('slider');
    await slider.fill('8');
    await expect.poll(() => count(page).textContent()).toMatch(/^8 of 8 /);
    expect(await nodes.count()).toBeLessThan(whole);
    await page.getByLabel('Speed').selectOption('1000');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await expect.poll(() => count(page).textContent(), { timeout: 20_000 }).not.toMatch(/^\d of /);
    await expect.poll(() => nodes.count(), { timeout: 20_000 }).toBe(whole);
  });

  test('shows 100,000 messages and hostile texts without freezing, and never as HTML', async () => {
    const feed = new Feed({ check: checkText });
    const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    for (let n = 1; n <= 100_000; n++)
      feed.add({ t: n, side: 'client', session: 's', text: `@a>req:x{n:${n}}[mid:m${n},seq:${n}]` });
    const hostile = [
      '['.repeat(1_000_000),
      markup,
      `@a>req:${'x'.repeat(500_000)}{k:1}`,
      `{"a":[${'1,'.repeat(400_000)}1]}`,
    ];
    for (const text of hostile) feed.add({ side: 'server', session: markup, text });
    const page = await openPage(await inspect(feed));
    await expect
      .poll(() => count(page).textContent(), { timeout: 60_000 })
      .toMatch(/^100,000 of 100,000 messages; 4 older/);
    expect(await page.getByRole('option').count()).toBeLessThan(100);
    await page.getByRole('searchbox').fill('n:99999');
    await expect.poll(() => count(page).textContent(), { timeout: 20_000 }).toMatch(/^1 of 100,000/);
    await page.getByRole('searchbox').fill('side:server');
    await expect.poll(() => count(page).textContent(), { timeout: 20_000 }).toMatch(/^4 of 100,000/);
    for (let index = 0; index < hostile.length; index++) {
      await page.getByRole('option').nth(index).click();
      for (const view of ['Tree', 'Text', 'English']) await page.getByRole('tab', { name: view }).click();
      await page.getByRole('tab', { name: 'Activity' }).click();
    }
    expect(await page.title()).toBe('test.jsonl - pegwire inspector');
    expect(await page.locator('img, #app script').count()).toBe(0);
  });

  test('asks for the token, and is refused without it', async () => {
    const url = await inspect(feedOf(LOG), { token: 'right' });
    const page = await openPage(url.replace(/#.*/, ''));
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByLabel('Token').fill('right');
    await page.getByRole('button', { name: 'Open' }).click();
    await row(page, 'job.completed').waitFor();
    // The refused requests are reported to the console.
    expect(faults.splice(0).every((text) => text.includes('401'))).toBe(true);
  });

  test.each([
    [390, 844],
    [1024, 768],
    [1920, 1080],
  ])('has no serious fault of accessibility at %d pixels', async (width, height) => {
    const page = await openPage(await inspect(feedOf(LOG), { allowSend: true }), { width, height });
    await row(page, 'job.completed').waitFor();
    expect(await axe(page)).toEqual([]);
    await row(page, 'job.completed').click();
    // The panels do not depend on the width.
    const tabs = page.getByRole('tablist', { name: 'Panels' });
    for (const tab of width === 390 ? ['Message', 'Permissions', 'Send', 'Activity'] : ['Permissions']) {
      await tabs.getByRole('tab', { name: tab, exact: true }).click();
      expect(await axe(page)).toEqual([]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('makes requests to its own server only', () => {
    const hosts = new Set(requests.map((url) => new URL(url).hostname));
    expect([...hosts].filter((host) => host !== '127.0.0.1' && host !== '')).toEqual([]);
  });
});
