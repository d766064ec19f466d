/** The language server inside the extension, in one file with its packages. */
import process from 'node:process';
import { startLanguageServer } from '../server.js';

/** The version of the package, which the build of the extension writes here. */
declare const PEGWIRE_VERSION: string;

startLanguageServer({ input: process.stdin, output: process.stdout }, PEGWIRE_VERSION);
