import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the folder of the project. The suite runs from sources in tests, and otherwise from a build in a temporary folder. */
export function projectRoot(): string {
  const given = process.env['PEGWIRE_ROOT'];
  if (given !== undefined) return given;
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
}
