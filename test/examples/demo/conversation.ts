/** The first half of the demo: a conversation of several agents, parsed, explained, printed canonically, errors shown. */

import { foundRecord } from '../../../src/cli/io/json.js';
import { READERS } from '../../../src/cli/io/messages.js';
import { reportText } from '../../../src/cli/io/report.js';
import { PROTOCOLS, type Protocol } from '../../../src/cli/protocols.js';
import { visible } from '../../../src/text/visible.js';
import { heading, highlight, indented, type Reporter } from './report.js';

/** What the reports call it. */
const NAME = 'conversation';

/** @param text messages and prose, as `test/examples/demo/conversation.txt` has them */
export async function reportConversation(text: string, reporter: Reporter): Promise<void> {
  const conversation = new Conversation(reporter);
  for (const [index, line] of text.split('\n').entries()) await conversation.line(line, index + 1);
  await conversation.summary();
}

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

class Conversation {
  readonly #tallies = new Map<Protocol, Tally>();
  #found = { inProse: 0, broken: 0 };

  readonly #reporter: Reporter;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  async line(line: string, number: number): Promise<void> {
    const { paint } = this.#reporter;
    if (line.trim() === '') return;
    if (line.startsWith('#')) {
      const title = line.slice(2);
      await this.#reporter.report(null, [/^\d/.test(title) ? heading(title, paint) : paint('dim', title)]);
    } else if (line.startsWith('> ')) await this.#prose(line.slice(2), number);
    else await this.#message(line, number);
  }

  async #message(text: string, number: number): Promise<void> {
    const { paint } = this.#reporter;
    const protocol = PROTOCOLS.find(({ name }) => name === (text.startsWith('@') ? 'accp' : 'aacp'))!;
    const read = readAnyhow(protocol, text);
    const findings = READERS[protocol.name].check(text, { dialect: read?.dialect ?? 'strict', profile: 'draft' });
    const lines = [
      paint('dim', `${String(number).padStart(3)} `) + highlight(protocol.name, text, paint),
      ...findings.map((finding) =>
        indented(reportText(finding, finding.severity, { number, text }, { name: NAME, paint, known: {} })),
      ),
    ];
    const record = { line: number, protocol: protocol.name, text, dialect: read?.dialect ?? null, findings };

    const tally = this.#tally(protocol);
    tally.messages++;
    if (read === null || findings.some(({ severity }) => severity === 'error')) {
      tally.refused++;
      await this.#reporter.report({ ...record, ok: false }, lines);
      return;
    }
    if (read.dialect === 'strict') tally.strict++;
    else tally.otherDialect++;
    if (findings.length > 0) tally.withWarnings++;
    const canonical = READERS[protocol.name].format(read.node, { dialect: 'strict' });
    tally.characters += text.length;
    tally.canonicalCharacters += canonical.length;
    const explanation = READERS[protocol.name].explain(read.node);
    lines.push(`    ${paint('dim', 'means')} ${explanation}`);
    if (canonical !== text) lines.push(`    ${paint('dim', 'canon')} ${visible(canonical)}`);
    if (read.dialect !== 'strict') lines.push(`    ${paint('dim', `read with the ${read.dialect} dialect`)}`);
    await this.#reporter.report({ ...record, ok: true, explanation, canonical }, lines);
  }

  async #prose(text: string, number: number): Promise<void> {
    const { paint } = this.#reporter;
    const lines = [`${paint('dim', '  > ')}${visible(text)}`];
    const all = PROTOCOLS.flatMap((protocol) =>
      READERS[protocol.name].find(text, { dialect: 'strict' }).map((found) => ({ protocol, found })),
    ).sort((a, b) => a.found.start - b.found.start);
    for (const { protocol, found } of all) {
      this.#found.inProse++;
      if (!found.ok) this.#found.broken++;
      const verdict = found.ok ? paint('green', 'found') : paint('red', found.error.message);
      const message = highlight(protocol.name, found.decoded ?? found.text, paint);
      lines.push(`    ${found.start}-${found.end} ${verdict} ${message}`);
    }
    const found = all.map((one) => ({ protocol: one.protocol.name, ...foundRecord(one.found) }));
    await this.#reporter.report({ line: number, text, found }, lines);
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
    await this.#reporter.report({ summary: { ...counts, ...this.#found } }, [
      heading('Summary', this.#reporter.paint),
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

/** Reads with the first dialect that can. */
function readAnyhow(protocol: Protocol, text: string): { node: unknown; dialect: string } | null {
  for (const dialect of protocol.dialects) {
    const result = READERS[protocol.name].parse(text, { dialect });
    if (result.ok) return { node: result.value, dialect };
  }
  return null;
}
