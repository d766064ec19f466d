/** The built page of the inspector, and Chromium to open it in. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium as driver, type Page } from 'playwright-core';
import { afterAll, inject } from 'vitest';
import { buildInspectorPage } from '../../scripts/inspector-page.js';
import { chromium } from './chromium.js';

/** Builds the page where the compiled command line finds it. Workers may do so at once. @returns the folder */
export async function builtPage(): Promise<string> {
  const folder = path.join(inject('compiled'), 'dist/inspector');
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  await buildInspectorPage(draft);
  try {
    renameSync(draft, folder);
  } catch {
    // Another worker was faster.
    rmSync(draft, { recursive: true });
  }
  return folder;
}

let browser: Promise<Browser> | undefined;

/** Opens a page in the browser of the test file, and fails on errors of its scripts. */
export async function openPage(url: string, size = { width: 1024, height: 768 }): Promise<Page> {
  browser ??= driver.launch({ executablePath: `/usr/bin/${chromium}`, args: ['--no-sandbox'] });
  const page = await (await browser).newPage({ viewport: size });
  pages.push(page);
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(url);
  return page;
}

/** Errors of scripts and violations of the content security policy in all pages. */
export const faults: string[] = [];
/** The addresses of all requests of the pages. */
export const requests: string[] = [];

const pages: Page[] = [];

/** Closes all pages, before their servers, whose end they would report. @returns the errors since the last call */
export async function closePages(): Promise<readonly string[]> {
  await Promise.all(pages.splice(0).map((page) => page.close()));
  return faults.splice(0);
}

afterAll(async () => (await browser)?.close());
