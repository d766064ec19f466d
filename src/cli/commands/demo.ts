import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { highlight } from '../highlight.js';
import { packageRoot } from '../package.js';
import { type Finding, PROTOCOLS, type Protocol } from '../protocols.js';
import { reportText } from '../report.js';
import type { Command, Invocation } from '../usage.js';

const CONVERSATION = 'test/examples/conversation.txt';

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
    const { output } = this.invocation;
    if (line.trim() === '') return;
    if (line.startsWith('#')) {
      const title = line.slice(2);
      await output.result(
        /^\d/.test(title) ? `\n${output.paint(['bold', 'underline'], title)}\n` : output.paint('dim', title),
      );
    } else if (line.startsWith('> ')) await this.#prose(line.slice(2));
    else await this.#message(line, number);
  }

  async #message(text: string, number: number): Promise<void> {
    const { output } = this.invocation;
    const protocol = PROTOCOLS.find(({ name }) => name === (text.startsWith('@') ? 'accp' : 'aacp'))!;
    const tally = this.#tally(protocol);
    tally.messages++;
    await output.result(
      `${output.paint('dim', `${String(number).padStart(3)} `)}${highlight(protocol.name, text, output.paint)}`,
    );

    const read = readAnyhow(protocol, text);
    const findings = protocol.check(text, { dialect: read?.dialect ?? 'strict', profile: 'draft' });
    await this.#findings(findings, text, number);
    if (read === null || findings.some(({ severity }) => severity === 'error')) {
      tally.refused++;
      return;
    }
    if (read.dialect === 'strict') tally.strict++;
    else tally.otherDialect++;
    if (findings.length > 0) tally.withWarnings++;
    const canonical = protocol.format(read.node, { dialect: 'strict' });
    tally.characters += text.length;
    tally.canonicalCharacters += canonical.length;
    await output.result(`    ${output.paint('dim', 'means')} ${protocol.explain(read.node)}`);
    if (canonical !== text) await output.result(`    ${output.paint('dim', 'canon')} ${canonical}`);
    if (read.dialect !== 'strict')
      await output.result(`    ${output.paint('dim', `read with the ${read.dialect} dialect`)}`);
  }

  async #findings(findings: readonly Finding[], text: string, number: number): Promise<void> {
    const { output } = this.invocation;
    for (const finding of findings) {
      const report = reportText(finding, finding.severity, { number, text }, 'conversation', output.paint);
      await output.result(report.replace(/^/gm, '    '));
    }
  }

  async #prose(text: string): Promise<void> {
    const { output } = this.invocation;
    await output.result(`${output.paint('dim', '  > ')}${text}`);
    const all = PROTOCOLS.flatMap((protocol) =>
      protocol.find(text, { dialect: 'strict' }).map((found) => ({ protocol, found })),
    );
    for (const { protocol, found } of all.sort((a, b) => a.found.start - b.found.start)) {
      this.#found.inProse++;
      if (!found.ok) this.#found.broken++;
      const verdict = found.ok ? output.paint('green', 'found') : output.paint('red', found.error.message);
      const message = highlight(protocol.name, found.decoded ?? found.text, output.paint);
      await output.result(`    ${found.start}-${found.end} ${verdict} ${message}`);
    }
  }

  async summary(): Promise<void> {
    const { output } = this.invocation;
    await output.result(`\n${output.paint(['bold', 'underline'], 'Summary')}\n`);
    for (const [protocol, tally] of this.#tallies) {
      const other = protocol.dialects[1];
      await output.result(
        `${protocol.name}: ${tally.messages} ${protocol.message}s: ${tally.strict} strict, ${tally.otherDialect} ${other} only, ` +
          `${tally.refused} refused; ${tally.withWarnings} with warnings. ` +
          `${tally.characters} characters accepted, ${tally.canonicalCharacters} in canonical form.`,
      );
    }
    await output.result(`In prose and JSON: ${this.#found.inProse} found, ${this.#found.broken} of them broken.`);
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

/** Reads with the first dialect that can. */
function readAnyhow(protocol: Protocol, text: string): { node: unknown; dialect: string } | null {
  for (const dialect of protocol.dialects) {
    const result = protocol.parse(text, { dialect });
    if (result.ok) return { node: result.value, dialect };
  }
  return null;
}
