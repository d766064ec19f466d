/** A module in place of `vscode`, which only VS Code has. */
import { EventEmitter } from 'node:events';

/** A module with the parts of VS Code that the extension and its client library use. What it does not name is an empty class or function. */
export function standIn(settings: Readonly<Record<string, unknown>>) {
  const registered: string[] = [];
  const documents: unknown[] = [];
  const events = new EventEmitter();
  const reports = new Map<string, readonly unknown[]>();
  const disposable = { dispose: () => {} };
  const listen = () => disposable;

  class Position {
    readonly line: number;
    readonly character: number;
    constructor(line: number, character: number) {
      this.line = line;
      this.character = character;
    }
  }
  class Range {
    readonly start: Position;
    readonly end: Position;
    constructor(start: Position, end: Position) {
      this.start = start;
      this.end = end;
    }
  }
  class Uri {
    readonly scheme = 'file';
    readonly path: string;
    constructor(value: string) {
      this.path = value.replace('file://', '');
    }
    static parse = (value: string) => new Uri(value);
    static file = (value: string) => new Uri(value);
    get fsPath(): string {
      return this.path;
    }
    toString(): string {
      return `file://${this.path}`;
    }
  }
  class Diagnostic {
    readonly range: Range;
    readonly message: string;
    readonly severity: number;
    constructor(range: Range, message: string, severity: number) {
      this.range = range;
      this.message = message;
      this.severity = severity;
    }
  }
  class Emitter {
    readonly event = listen;
    fire(): void {}
    dispose(): void {}
  }
  class CancellationTokenSource {
    readonly token = { isCancellationRequested: false, onCancellationRequested: listen };
    cancel(): void {}
    dispose(): void {}
  }

  const anything = (known: Readonly<Record<string, unknown>>, other: (name: string) => unknown): unknown =>
    new Proxy(known, {
      get: (target, name) =>
        typeof name === 'string' && !(name in target) && name !== 'then' ? other(name) : Reflect.get(target, name),
    });
  const configuration = {
    get: (name: string, fallback?: unknown) => settings[name] ?? fallback,
    has: (name: string) => name in settings,
    ...settings,
  };

  const module = anything(
    {
      ...{ Position, Range, Uri, Diagnostic, EventEmitter: Emitter, CancellationTokenSource, version: '1.91.0' },
      Disposable: class {
        static from = () => disposable;
        dispose(): void {}
      },
      env: { appName: 'test', language: 'en', appHost: 'desktop', onDidChangeTelemetryEnabled: listen },
      workspace: anything(
        {
          textDocuments: documents,
          workspaceFolders: [],
          notebookDocuments: [],
          getConfiguration: () => configuration,
          asRelativePath: (name: unknown) => String(name),
        },
        () => listen,
      ),
      window: anything(
        {
          visibleTextEditors: [],
          activeTextEditor: undefined,
          tabGroups: { all: [], onDidChangeTabs: listen, onDidChangeTabGroups: listen },
          createOutputChannel: () => anything({ dispose: () => {} }, () => listen),
          showErrorMessage: async () => undefined,
        },
        () => listen,
      ),
      languages: anything(
        {
          match: (
            selector: readonly { language: string }[] | { language: string },
            { languageId }: { languageId: string },
          ) => ([selector].flat().some((one) => (one as { language: string }).language === languageId) ? 10 : 0),
          createDiagnosticCollection: () => ({
            set: (uri: Uri, found: readonly unknown[]) => {
              reports.set(uri.toString(), found);
              events.emit('report');
            },
            ...{
              delete: () => {},
              clear: () => {},
              dispose: () => {},
              has: () => false,
              get: () => [],
              forEach: () => {},
            },
          }),
        },
        (name) => () => {
          registered.push(/^register(?:Multi)?(.*?)Provider$/.exec(name)?.[1] ?? name);
          return disposable;
        },
      ),
      commands: { registerCommand: listen, executeCommand: async () => undefined },
    },
    // Enumerations and classes that the library extends.
    (name) => anything(Object.assign(class {}, { displayName: name }) as never, (member) => member.length),
  );

  return {
    module,
    registered,
    addDocument(uri: string, languageId: string, content: string) {
      const document = {
        uri: Uri.parse(uri),
        languageId,
        version: 1,
        isClosed: false,
        isDirty: false,
        getText: () => content,
        lineCount: 1,
        fileName: uri,
      };
      documents.push(document);
      return document;
    },
    async reported(uri: string): Promise<readonly unknown[]> {
      while (!reports.has(uri)) await new Promise((resolve) => events.once('report', resolve));
      return reports.get(uri)!;
    },
  };
}
