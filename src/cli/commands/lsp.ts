import process from 'node:process';
import { startLanguageServer } from '../../language-server/server.js';
import { packageVersion } from '../io/package.js';
import { defineCommand } from '../options/command.js';
import { flag } from '../options/option.js';

export const command = defineCommand({
  takes: 'nothing',
  options: { stdio: flag('Communicate on stdin and stdout (default)') },
  details:
    'Editors start this command. It reports errors with quick fixes, and serves hover texts, completion, formatting, colours, outlines, ' +
    'definitions and renaming, for .accp, .aacp and .peggy files, and for messages in Markdown, JSON, TypeScript and any other text. ' +
    'src/language-server/README.md in the package has the configuration of VS Code, Neovim, Helix and Zed.',
  example: 'pegwire lsp --stdio',
  run: async () => {
    startLanguageServer({ input: process.stdin, output: process.stdout }, packageVersion());
    // The server ends the process.
    return new Promise<never>(() => {});
  },
});
