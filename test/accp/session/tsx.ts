/** The loader with which a process runs TypeScript: `node --import TSX file.ts`. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
