/** The client's side of the process `frames-server.ts`. */
import { FRAMES_PATH } from '../../../../src/accp/bindings/http/index.js';
import type { ServerFigures } from './frames-server.js';
import { type RunningProgram, runProgram } from './run-program.js';

export const FRAMES_SERVER = new URL('frames-server.ts', import.meta.url);

export interface ServerProcess extends RunningProgram {
  readonly port: number;
  readonly httpUrl: string;
  readonly webSocketUrl: string;
  readonly figures: () => Promise<ServerFigures>;
}

/** @param file the compiled server */
export async function startFramesServer(file: string): Promise<ServerProcess> {
  const program = runProgram(file);
  const port = Number(await program.line());
  return {
    ...program,
    port,
    httpUrl: `http://127.0.0.1:${port}${FRAMES_PATH}`,
    webSocketUrl: `ws://127.0.0.1:${port}${FRAMES_PATH}`,
    figures: async () => (await (await fetch(`http://127.0.0.1:${port}/figures`)).json()) as ServerFigures,
  };
}
