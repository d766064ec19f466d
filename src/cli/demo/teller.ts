/** How the demo speaks: records for `--json`, lines for people. */
import { toJson } from '../json.js';
import type { Output } from '../output.js';
import type { Invocation } from '../usage.js';

export interface Teller {
  readonly paint: Output['paint'];
  /** One step of the story; `null` for what is only there to be looked at. */
  readonly tell: (record: object | null, lines: readonly string[]) => Promise<void>;
}

export function createTeller({ json, output }: Pick<Invocation, 'json' | 'output'>): Teller {
  return {
    paint: output.paint,
    tell: async (record, lines) => {
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
