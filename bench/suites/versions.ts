import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../root.js';

const PACKAGES = ['peggy', 'pegjs', 'ohm-js', 'zod', '@toon-format/toon', 'benchmark'];

/** The versions of pegwire and of the packages that it is compared with. */
export function versions(): Record<string, string> {
  const root = projectRoot();
  const installed = PACKAGES.map((name) => [name, versionIn(path.join(root, 'node_modules', name))]);
  return { pegwire: versionIn(root), ...Object.fromEntries(installed) };
}

function versionIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return version;
}
