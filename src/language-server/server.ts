/** The language server: connects an editor with the answers about its documents. */
import { fileURLToPath } from 'node:url';
import { isRecord } from '../text/guards.js';
import {
  codeActions,
  completions,
  definitions,
  diagnostics,
  formatting,
  hover,
  prepareRename,
  pushTokens,
  references,
  rename,
  symbols,
} from './answers.js';
import { OpenDocument } from './document.js';
import { pluginNotices } from './grammars/grammar.js';
import { TOKEN_MODIFIERS, TOKEN_TYPES } from './language.js';
import { invalidParam, Lifecycle } from './lifecycle.js';
import {
  CodeActionContext,
  CodeActionKind,
  type Connection,
  createConnection,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  type InitializeParams,
  type InitializeResult,
  MessageType,
  Position,
  PositionEncodingKind,
  ProposedFeatures,
  Range,
  type ReferenceContext,
  SemanticTokensBuilder,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentIdentifier,
  TextDocumentSyncKind,
  TextDocuments,
} from './protocol.js';
import { DEFAULT_SETTINGS, readSettings, type Settings } from './settings.js';

/** Milliseconds without a change after which diagnostics are sent. */
const QUIET_MS = 50;

/** Milliseconds from the end of the input to that of the process. */
const GRACE_MS = 500;

/** The documents that the server formats, for clients that take selectors. */
const FORMATTED = [
  { pattern: '**/*.{accp,aacp,peggy,pegjs}' },
  ...['accp', 'aacp', 'peggy'].map((language) => ({ language })),
];

/** The streams that a server speaks on. */
export interface ServerStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Starts a language server. It ends the process on `exit`, at the end of the input, and when the process of the editor is gone.
 *
 * @param version the version that the server reports
 */
export function startLanguageServer({ input, output }: ServerStreams, version: string): void {
  // Given the streams themselves, the library ends the process before it has answered what came before their end.
  const [reader, writer] = [new StreamMessageReader(input), new StreamMessageWriter(output)];
  const lifecycle = new Lifecycle(writer);
  const connection = createConnection(ProposedFeatures.all, reader, writer, { messageStrategy: lifecycle });
  new LanguageServer(connection, version).listen();
  input.on('close', () => setTimeout(() => process.exit(lifecycle.isShutDown ? 0 : 1), GRACE_MS));
}

class LanguageServer {
  readonly #connection: Connection;
  readonly #version: string;
  readonly #documents: TextDocuments<OpenDocument>;
  /** The builders of the last tokens of each document, for deltas. */
  readonly #tokens = new Map<string, SemanticTokensBuilder>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #settings: Settings = DEFAULT_SETTINGS;
  #client: InitializeParams['capabilities'] = {};
  #folder = process.cwd();
  /** The settings that came with the first request, and those that came later. */
  #initial: unknown;
  #given: unknown;
  /** The problems of the settings when they were last read, which are not shown again. */
  #problems: ReadonlySet<string> = new Set();

  constructor(connection: Connection, version: string) {
    this.#connection = connection;
    this.#version = version;
    this.#documents = new TextDocuments<OpenDocument>({
      create: (uri, languageId, documentVersion, text) =>
        new OpenDocument(uri, languageId, documentVersion, text, this.#settings),
      update: (document, changes, documentVersion) => {
        document.update(changes, documentVersion);
        return document;
      },
    });
  }

  listen(): void {
    const connection = this.#connection;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#initialized());
    connection.onShutdown(() => {
      for (const timer of this.#timers.values()) clearTimeout(timer);
    });
    connection.onDidChangeConfiguration(({ settings }) =>
      this.#configure(isRecord(settings) ? settings['pegwire'] : undefined),
    );
    connection.onDidChangeWatchedFiles(() => this.#configure());

    this.#documents.onDidOpen(({ document }) => this.#checkPlugin(document));
    this.#documents.onDidSave(({ document }) => this.#checkPlugin(document));
    this.#documents.onDidChangeContent(({ document }) => this.#checkSoon(document.uri));
    this.#documents.onDidClose(({ document }) => this.#close(document.uri));

    /** Checks the members of the parameters that an answer depends on. */
    const on = <Params, Answer>(
      checks: { readonly [Name in keyof Params]: (value: unknown) => value is Params[Name] },
      answer: (document: OpenDocument, params: Params) => Answer,
    ) => {
      return (given: object): Answer | null => {
        const params = given as Params & { readonly textDocument: TextDocumentIdentifier };
        for (const [name, check] of Object.entries({ textDocument: TextDocumentIdentifier.is, ...checks }))
          if (!passes(check, params[name as keyof typeof params])) throw invalidParam(name);
        const document = this.#documents.get(params.textDocument.uri);
        if (document === undefined) return null;
        const answered = answer(document, params);
        this.#trace(document);
        return answered;
      };
    };
    connection.onHover(on({ position: Position.is }, (document, { position }) => hover(document, position)));
    connection.onCompletion(on({ position: Position.is }, (document, { position }) => completions(document, position)));
    connection.onCodeAction(
      on({ range: Range.is, context: CodeActionContext.is }, (document, { range, context: { diagnostics, only } }) =>
        codeActions(document, range, diagnostics).filter(
          ({ kind }) => only?.some((wanted) => wanted === '' || `${kind}.`.startsWith(`${wanted}.`)) ?? true,
        ),
      ),
    );
    connection.onDocumentFormatting(on({}, (document) => formatting(document)));
    connection.onDocumentRangeFormatting(on({ range: Range.is }, (document, { range }) => formatting(document, range)));
    connection.onDocumentSymbol(on({}, (document) => symbols(document)));
    connection.onDefinition(on({ position: Position.is }, (document, { position }) => definitions(document, position)));
    connection.onReferences(
      on({ position: Position.is, context: isReferenceContext }, (document, { position, context }) =>
        references(document, position, context.includeDeclaration),
      ),
    );
    connection.onPrepareRename(
      on({ position: Position.is }, (document, { position }) => prepareRename(document, position)),
    );
    connection.onRenameRequest(
      on({ position: Position.is, newName: isString }, (document, { position, newName }) =>
        rename(document, position, newName),
      ),
    );
    const { semanticTokens } = connection.languages;
    const none = { data: [] };
    semanticTokens.on((params) => on({}, (document) => this.#builder(document).build())(params) ?? none);
    semanticTokens.onDelta((params) => {
      return (
        on({ previousResultId: isString }, (document, { previousResultId }) => {
          const builder = this.#tokens.get(document.uri);
          // Ids of earlier builders are unknown to a new one.
          if (builder === undefined) return this.#builder(document).build();
          builder.previousResult(previousResultId);
          pushTokens(document, builder);
          return builder.buildEdits();
        })(params) ?? none
      );
    });
    semanticTokens.onRange((params) => {
      return (
        on({ range: Range.is }, (document, { range }) => {
          const builder = new SemanticTokensBuilder();
          pushTokens(document, builder, range);
          return builder.build();
        })(params) ?? none
      );
    });
    this.#documents.listen(connection);
    connection.listen();
  }

  #initialize({ capabilities, initializationOptions, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    this.#client = capabilities;
    const root = workspaceFolders?.[0]?.uri ?? rootUri;
    this.#folder = folderOf(root) ?? this.#folder;
    this.#initial = initializationOptions;
    // Problems are shown when the client is ready.
    this.#settings = readSettings([initializationOptions], this.#folder, () => {});
    const formats = !this.#registersFormatting;
    return {
      serverInfo: { name: 'pegwire', version: this.#version },
      capabilities: {
        // All offsets of pegwire are UTF-16 code units, which every client supports.
        positionEncoding: PositionEncodingKind.UTF16,
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: { includeText: false } },
        hoverProvider: true,
        completionProvider: { triggerCharacters: ['@', '>', ':', '{', '|', '[', ',', '$'] },
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite] },
        ...(formats ? { documentFormattingProvider: true, documentRangeFormattingProvider: true } : {}),
        documentSymbolProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        semanticTokensProvider: {
          legend: { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [...TOKEN_MODIFIERS] },
          full: { delta: true },
          range: true,
        },
      },
    };
  }

  /** Otherwise editors would ask which formatter to use for Markdown or TypeScript, of which the server formats nothing. */
  get #registersFormatting(): boolean {
    return this.#client.textDocument?.formatting?.dynamicRegistration === true;
  }

  #initialized(): void {
    const { client } = this.#connection;
    const { workspace } = this.#client;
    const registered: Promise<unknown>[] = [];
    if (this.#registersFormatting) {
      registered.push(client.register(DocumentFormattingRequest.type, { documentSelector: FORMATTED }));
      registered.push(client.register(DocumentRangeFormattingRequest.type, { documentSelector: FORMATTED }));
    }
    if (workspace?.didChangeConfiguration?.dynamicRegistration === true)
      registered.push(client.register(DidChangeConfigurationNotification.type, { section: 'pegwire' }));
    if (workspace?.didChangeWatchedFiles?.dynamicRegistration === true) {
      const watchers = [{ globPattern: '**/*.json' }];
      registered.push(client.register(DidChangeWatchedFilesNotification.type, { watchers }));
    }
    // A client that refuses one has less, but still works.
    for (const one of registered) one.catch(this.#ignore);
    void this.#configure();
  }

  readonly #ignore = (thrown: unknown): void => this.#connection.console.warn(String(thrown));

  /** A notification, since nothing is to be chosen, and a client may not answer. */
  #show(message: string): void {
    void this.#connection.sendNotification(ShowMessageNotification.type, {
      type: MessageType.Error,
      message: `pegwire: ${message}`,
    });
  }

  /** Reads the settings again: those of the client, on top of those at the start. @param given those that a client sent */
  async #configure(given?: unknown): Promise<void> {
    this.#given = given ?? this.#given;
    const { workspace } = this.#connection;
    const own =
      this.#client.workspace?.configuration === true
        ? await workspace.getConfiguration('pegwire').catch(this.#ignore)
        : this.#given;
    const problems = new Set<string>();
    const settings = readSettings([this.#initial, own], this.#folder, (problem) => problems.add(problem));
    for (const problem of problems) if (!this.#problems.has(problem)) this.#show(problem);
    this.#problems = problems;
    if (isEqual(settings, this.#settings)) return;
    this.#settings = settings;
    for (const document of this.#documents.all()) {
      document.settings = settings;
      this.#check(document.uri);
    }
  }

  #checkSoon(uri: string): void {
    clearTimeout(this.#timers.get(uri));
    this.#timers.set(
      uri,
      setTimeout(() => this.#check(uri), QUIET_MS),
    );
  }

  #check(uri: string): void {
    clearTimeout(this.#timers.get(uri));
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    try {
      const found = diagnostics(document);
      this.#trace(document);
      void this.#connection.sendDiagnostics({ uri, version: document.version, diagnostics: found });
    } catch (thrown) {
      // A defect: the server continues, as it does after a request that fails.
      this.#connection.console.error(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
    }
  }

  #checkPlugin(document: OpenDocument): void {
    if (document.content !== 'peggy') return;
    document.notices = pluginNotices(document.text);
    this.#checkSoon(document.uri);
  }

  #close(uri: string): void {
    clearTimeout(this.#timers.get(uri));
    this.#timers.delete(uri);
    this.#tokens.delete(uri);
    void this.#connection.sendDiagnostics({ uri, diagnostics: [] });
  }

  #builder(document: OpenDocument): SemanticTokensBuilder {
    const builder = new SemanticTokensBuilder();
    this.#tokens.set(document.uri, builder);
    pushTokens(document, builder);
    return builder;
  }

  /** Reports the work of the last step to clients that trace the server. */
  #trace(document: OpenDocument): void {
    const parsed = document.takeParsed();
    if (parsed === 0) return;
    const what = document.content === 'peggy' ? 'rules' : 'lines';
    this.#connection.tracer.log(`parsed ${parsed} ${what} of ${document.uri}, version ${document.version}`);
  }
}

/** The checks of the library read members of `null`. */
function passes(check: (value: unknown) => boolean, value: unknown): boolean {
  try {
    return check(value);
  } catch {
    return false;
  }
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isReferenceContext(value: unknown): value is ReferenceContext {
  return isRecord(value) && typeof value['includeDeclaration'] === 'boolean';
}

function isEqual(a: Settings, b: Settings): boolean {
  const comparable = (settings: Settings): string => JSON.stringify({ ...settings, registry: settings.registry.hash });
  return comparable(a) === comparable(b);
}

/** Returns the path of a folder; `undefined` for one that is not a file of this machine. */
function folderOf(uri: string | null | undefined): string | undefined {
  if (uri?.startsWith('file:') !== true) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
