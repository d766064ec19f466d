import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { visible } from '../../text/visible.js';
import { highlight } from '../highlight.js';
import { foundRecord, toJson } from '../json.js';
import type { Output } from '../output.js';
import { packageRoot } from '../package.js';
import { PROTOCOLS, type Protocol } from '../protocols.js';
import { reportText } from '../report.js';
import type { Command, Invocation } from '../usage.js';

const CONVERSATION = 'test/examples/conversation.txt';
/** What the reports call it. */
const NAME = 'conversation';

/** `pegwire demo`: the main job from end to end, on a conversation of several agents. */
export const demo: Command = {
  name: 'demo',
  summary: 'everything above on a conversation of several agents, from end to end',
  takesInput: false,
  options: {},
  example: 'pegwire demo',
  run: async (invocation) => {
    const text = await readFile(path.join(packageRoot(), CONVERSATION), 'utf8');
    const teller = new Demo(invocation);
    for (const [index, line] of text.split('\n').entries()) await teller.line(line, index + 1);
    await teller.summary();
    return 0;
  },
};

/** What was seen of one protocol. */
interface Tally {
  messages: number;
  /** Read by the strict dialect, without errors. */
  strict: number;
  /** Read by the other dialect only. */
  otherDialect: number;
  withWarnings: number;
  refused: number;
  /** Characters of the accepted messages, and of their canonical forms. */
  characters: number;
  canonicalCharacters: number;
}

class Demo {
  readonly #tallies = new Map<Protocol, Tally>();
  #found = { inProse: 0, broken: 0 };

  readonly invocation: Invocation;

  constructor(invocation: Invocation) {
    this.invocation = invocation;
  }

  async line(line: string, number: number): Promise<void> {
    const { paint } = this.invocation.output;
    if (line.trim() === '') return;
    if (line.startsWith('#')) {
      const title = line.slice(2);
      await this.#tell(null, [/^\d/.test(title) ? heading(title, paint) : paint('dim', title)]);
    } else if (line.startsWith('> ')) await this.#prose(line.slice(2), number);
    else await this.#message(line, number);
  }

  /** One step of the story: a record for `--json`, lines for people. */
  async #tell(record: object | null, lines: readonly string[]): Promise<void> {
    const { json, output } = this.invocation;
    if (!json) await output.result(lines.join('\n'));
    else if (record !== null) await output.result(toJson(record));
  }

  async #message(text: string, number: number): Promise<void> {
    const { paint } = this.invocation.output;
    const protocol = PROTOCOLS.find(({ name }) => name === (text.startsWith('@') ? 'accp' : 'aacp'))!;
    const read = readAnyhow(protocol, text);
    const findings = protocol.check(text, { dialect: read?.dialect ?? 'strict', profile: 'draft' });
    const lines = [
      paint('dim', `${String(number).padStart(3)} `) + highlight(protocol.name, text, paint),
      ...findings.map((finding) => indented(reportText(finding, finding.severity, { number, text }, NAME, paint))),
    ];
    const record = { line: number, protocol: protocol.name, text, dialect: read?.dialect ?? null, findings };

    const tally = this.#tally(protocol);
    tally.messages++;
    if (read === null || findings.some(({ severity }) => severity === 'error')) {
      tally.refused++;
      await this.#tell({ ...record, ok: false }, lines);
      return;
    }
    if (read.dialect === 'strict') tally.strict++;
    else tally.otherDialect++;
    if (findings.length > 0) tally.withWarnings++;
    const canonical = protocol.format(read.node, { dialect: 'strict' });
    tally.characters += text.length;
    tally.canonicalCharacters += canonical.length;
    const explanation = protocol.explain(read.node);
    lines.push(`    ${paint('dim', 'means')} ${explanation}`);
    if (canonical !== text) lines.push(`    ${paint('dim', 'canon')} ${visible(canonical)}`);
    if (read.dialect !== 'strict') lines.push(`    ${paint('dim', `read with the ${read.dialect} dialect`)}`);
    await this.#tell({ ...record, ok: true, explanation, canonical }, lines);
  }

  async #prose(text: string, number: number): Promise<void> {
    const { paint } = this.invocation.output;
    const lines = [`${paint('dim', '  > ')}${visible(text)}`];
    const all = PROTOCOLS.flatMap((protocol) =>
      protocol.find(text, { dialect: 'strict' }).map((found) => ({ protocol, found })),
    ).sort((a, b) => a.found.start - b.found.start);
    for (const { protocol, found } of all) {
      this.#found.inProse++;
      if (!found.ok) this.#found.broken++;
      const verdict = found.ok ? paint('green', 'found') : paint('red', found.error.message);
      const message = highlight(protocol.name, found.decoded ?? found.text, paint);
      lines.push(`    ${found.start}-${found.end} ${verdict} ${message}`);
    }
    const found = all.map((one) => ({ protocol: one.protocol.name, ...foundRecord(one.found) }));
    await this.#tell({ line: number, text, found }, lines);
  }

  async summary(): Promise<void> {
    const tallies = [...this.#tallies];
    const lines = tallies.map(
      ([{ name, message, dialects }, tally]) =>
        `${name}: ${tally.messages} ${message}s: ${tally.strict} strict, ${tally.otherDialect} ${dialects[1]} only, ` +
        `${tally.refused} refused; ${tally.withWarnings} with warnings. ` +
        `${tally.characters} characters accepted, ${tally.canonicalCharacters} in canonical form.`,
    );
    lines.push(`In prose and JSON: ${this.#found.inProse} found, ${this.#found.broken} of them broken.`);
    const counts = Object.fromEntries(tallies.map(([{ name }, tally]) => [name, tally]));
    await this.#tell({ summary: { ...counts, ...this.#found } }, [
      heading('Summary', this.invocation.output.paint),
      ...lines,
    ]);
  }

  #tally(protocol: Protocol): Tally {
    const tally = this.#tallies.get(protocol) ?? {
      messages: 0,
      strict: 0,
      otherDialect: 0,
      withWarnings: 0,
      refused: 0,
      characters: 0,
      canonicalCharacters: 0,
    };
    this.#tallies.set(protocol, tally);
    return tally;
  }
}

function heading(title: string, paint: Output['paint']): string {
  return `\n${paint(['bold', 'underline'], title)}\n`;
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

/** Reads with the first dialect that can. */
function readAnyhow(protocol: Protocol, text: string): { node: unknown; dialect: string } | null {
  for (const dialect of protocol.dialects) {
    const result = protocol.parse(text, { dialect });
    if (result.ok) return { node: result.value, dialect };
  }
  return null;
}
