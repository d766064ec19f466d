/** The extension for VS Code: it starts the language server, and leaves the rest to it. */
import * as vscode from 'vscode';
import { LanguageClient, type ServerOptions, TransportKind } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

/** Starts the language server. VS Code calls it when the first document of a language is opened. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration('pegwire');
  const command = settings.get<string>('server.path') ?? '';
  const languages = settings.get<readonly string[]>('languages') ?? [];
  const server: ServerOptions =
    command === ''
      ? { module: context.asAbsolutePath('dist/server.cjs'), transport: TransportKind.stdio }
      : { command, args: ['lsp', '--stdio'] };
  client = new LanguageClient('pegwire', 'pegwire', server, {
    documentSelector: ['accp', 'aacp', 'peggy', ...languages].map((language) => ({ language })),
  });
  await client.start();
}

/** Ends the language server. */
export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}
