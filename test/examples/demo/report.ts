/** The output of the demo: records with `--json`, otherwise text. */
import moo from 'moo';
import { packetTokens } from '../../../grammar/aacp.tokens.js';
import { frameTokens } from '../../../grammar/accp.tokens.js';
import { toJson } from '../../../src/cli/io/json.js';
import type { Output, Style } from '../../../src/cli/io/output.js';
import { visible } from '../../../src/text/visible.js';

export interface Reporter {
  readonly paint: Output['paint'];
  /** Reports one step. The record is `null` for decoration, which `--json` omits. */
  readonly report: (record: object | null, lines: readonly string[]) => Promise<void>;
}

export function createReporter(output: Output, json: boolean): Reporter {
  return {
    paint: output.paint,
    report: async (record, lines) => {
      if (!json) await output.result(lines.join('\n'));
      else if (record !== null) await output.result(toJson(record));
    },
  };
}

export function heading(title: string, paint: Output['paint']): string {
  return `\n${paint(['bold', 'underline'], title)}\n`;
}

export function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

const LEXERS = {
  accp: () => moo.compile(frameTokens),
  aacp: () => moo.states(packetTokens, 'start'),
};

const STYLES: Readonly<Record<string, Style>> = {
  agent: ['cyan', 'bold'],
  intent: 'magenta',
  operation: 'blue',
  mention: 'cyan',
  ref: 'yellow',
  key: 'blue',
  number: 'green',
  boolean: 'green',
  null: 'green',
  escape: 'yellow',
  open: 'dim',
  close: 'dim',
  separator: 'dim',
  colon: 'dim',
  invalid: ['red', 'inverse'],
  task: ['cyan', 'bold'],
  domain: 'magenta',
};

/** Returns a message in colour, with control characters made visible. Invalid text is coloured as far as possible. */
export function highlight(protocol: 'accp' | 'aacp', text: string, paint: Output['paint']): string {
  let colored = '';
  for (const { type, text: piece } of LEXERS[protocol]().reset(text)) {
    const style = type === undefined ? undefined : STYLES[type];
    colored += style === undefined ? visible(piece) : paint(style, visible(piece));
  }
  return colored;
}
