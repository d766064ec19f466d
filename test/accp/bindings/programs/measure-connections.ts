/** Many connections between two processes: tests that every request is answered, and measures the memory. */
import process from 'node:process';
import { type CompiledProgram, compileProgram } from '../../../helpers/bundled-program.js';
import type { ClientFigures } from './connections-client.js';
import { FRAMES_SERVER, startFramesServer } from './frames-server-process.js';
import { type RunningProgram, runProgram } from './run-program.js';

const CLIENT = new URL('connections-client.ts', import.meta.url);
/** File descriptors of a process besides its connections. */
const OTHER_FILES = 64;

export interface ConnectionFigures extends ClientFigures {
  readonly server: { readonly start: number; readonly peak: number; readonly end: number };
  /** Connections and requests as counted by the server. */
  readonly connected: number;
  readonly handled: number;
}

/** @throws Error if the system allows too few open files, or one of the processes fails */
export async function measureConnections(connections: number, seconds: number): Promise<ConnectionFigures> {
  checkFiles(connections);
  const programs: CompiledProgram[] = [];
  const running: RunningProgram[] = [];
  try {
    for (const source of [FRAMES_SERVER, CLIENT]) programs.push(await compileProgram(source));
    const server = await startFramesServer(programs[0]!.file);
    running.push(server);
    const { rss: start } = await server.figures();
    const args = [server.webSocketUrl, String(connections), String(seconds)];
    const client = runProgram(programs[1]!.file, args);
    running.push(client);
    await client.line();
    const { connected } = await server.figures();
    const summary = JSON.parse(await client.line()) as ClientFigures;
    const { rss: end, peak, handled } = await server.figures();
    await client.ended;
    return { ...summary, server: { start, peak, end }, connected, handled };
  } finally {
    await Promise.all(running.map((program) => program.kill()));
    for (const program of programs) program.remove();
  }
}

/** @returns lines for people */
export function describeConnections(figures: ConnectionFigures): string {
  const { connections, requests, errors, messages, rss, server } = figures;
  const memory = (name: string, { start, peak, end }: ConnectionFigures['rss']): string =>
    `${name}: ${megabytes(start)} at the start, ${megabytes(peak)} at most, ${megabytes(end)} at the end`;
  return [
    `${connections} connections, ${requests} requests answered, ${errors} errors`,
    memory('memory of the server', server),
    memory('memory of the client', rss),
    ...messages.map((error) => `  ${error}`),
  ].join('\n');
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** Node raises the soft limit on its own, up to the hard limit. */
function checkFiles(connections: number): void {
  const report = process.report?.getReport() as
    | { readonly userLimits?: { readonly open_files?: { readonly hard?: number | 'unlimited' } } }
    | undefined;
  const hard = report?.userLimits?.open_files?.hard;
  const needed = connections + OTHER_FILES;
  if (typeof hard === 'number' && hard < needed) {
    throw new Error(
      `${connections} connections need ${needed} open files in a process, and the system allows ${hard} (see ulimit -Hn).`,
    );
  }
}
