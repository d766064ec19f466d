/** A client of the language server, over stdio: the protocol library of VS Code, and nothing of the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  type ClientCapabilities,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  LogTraceNotification,
  type Position,
  PublishDiagnosticsNotification,
  type Range,
  ShowMessageNotification,
  ShutdownRequest,
  type TextDocumentContentChangeEvent,
  type TextEdit,
} from 'vscode-languageserver-protocol';
import {
  createProtocolConnection,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { PROGRAM } from '../helpers/cli.js';

export interface ClientOptions {
  readonly command?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  readonly initializationOptions?: unknown;
  readonly rootUri?: string;
}

export interface Client {
  readonly connection: ProtocolConnection;
  readonly process: ChildProcess;
  readonly initialized: InitializeResult;
  /** The messages that the server shows. */
  readonly shown: readonly string[];
  /** The numbers of lines or rules that the server parsed, one for each step, since the last call. */
  takeParsed(): readonly number[];
  open(name: string, text: string, languageId?: string): Promise<OpenFile>;
  /** Ends the server as an editor does. @returns its exit code */
  close(): Promise<number | null>;
}

/** A file that the client has open. */
export interface OpenFile {
  readonly uri: string;
  readonly textDocument: { readonly uri: string };
  text(): string;
  /** Returns the position after the n-th occurrence of a text, which begins with 0. */
  after(part: string, occurrence?: number): Position;
  before(part: string, occurrence?: number): Position;
  rangeOf(part: string, occurrence?: number): Range;
  slice(range: Range): string;
  /** Returns the diagnostics of the current version. */
  diagnostics(): Promise<readonly Diagnostic[]>;
  change(...changes: TextDocumentContentChangeEvent[]): Promise<void>;
  /** Returns the text after edits. */
  applied(edits: readonly TextEdit[]): string;
}

export async function startClient(options: ClientOptions = {}): Promise<Client> {
  const {
    command = [...PROGRAM, 'lsp', '--stdio'],
    capabilities = {},
    initializationOptions,
    rootUri = null,
  } = options;
  const [file, ...args] = command;
  const child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const published = new Map<string, { version: number; diagnostics: readonly Diagnostic[] }>();
  const waiting = new Set<() => void>();
  const shown: string[] = [];
  let parsed: number[] = [];
  let opened = 0;
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, version = 0, diagnostics }) => {
    published.set(uri, { version, diagnostics });
    for (const wake of waiting) wake();
  });
  connection.onNotification(LogTraceNotification.type, ({ message }) => {
    const count = /^parsed (\d+) /.exec(message)?.[1];
    if (count !== undefined) parsed.push(Number(count));
  });
  connection.onNotification(ShowMessageNotification.type, ({ message }) => void shown.push(message));
  connection.listen();
  const initialized = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri,
    capabilities,
    initializationOptions,
    trace: 'messages',
  });
  await connection.sendNotification(InitializedNotification.type, {});

  const open = async (name: string, text: string, languageId = name.split('.').at(-1)!): Promise<OpenFile> => {
    const uri = `file:///test/${++opened}/${name}`;
    let document = TextDocument.create(uri, languageId, 1, text);
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version: 1, text },
    });
    const offsetOf = (part: string, occurrence = 0): number => {
      let at = -1;
      for (let count = 0; count <= occurrence; count++) at = document.getText().indexOf(part, at + 1);
      if (at < 0) throw new Error(`not in the document: ${part}`);
      return at;
    };
    const before = (part: string, occurrence?: number) => document.positionAt(offsetOf(part, occurrence));
    const after = (part: string, occurrence?: number) => document.positionAt(offsetOf(part, occurrence) + part.length);
    return {
      uri,
      textDocument: { uri },
      text: () => document.getText(),
      before,
      after,
      rangeOf: (part, occurrence) => ({ start: before(part, occurrence), end: after(part, occurrence) }),
      slice: (range) => document.getText(range),
      diagnostics: async () => {
        while (published.get(uri)?.version !== document.version) {
          await new Promise<void>((resolve) => {
            const wake = (): void => {
              waiting.delete(wake);
              resolve();
            };
            waiting.add(wake);
          });
        }
        return published.get(uri)!.diagnostics;
      },
      change: async (...changes) => {
        document = TextDocument.update(document, changes, document.version + 1);
        const textDocument = { uri, version: document.version };
        await connection.sendNotification(DidChangeTextDocumentNotification.type, {
          textDocument,
          contentChanges: changes,
        });
      },
      applied: (edits) => TextDocument.applyEdits(document, [...edits]),
    };
  };
  return {
    ...{ connection, process: child, initialized, shown, open },
    takeParsed: () => {
      const taken = parsed;
      parsed = [];
      return taken;
    },
    close: async () => {
      await connection.sendRequest(ShutdownRequest.type);
      await connection.sendNotification(ExitNotification.type);
      const code = await exited;
      connection.dispose();
      return code;
    },
  };
}
