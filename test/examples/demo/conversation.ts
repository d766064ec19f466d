/** The first part of the demo: the messages of a conversation are parsed, explained and printed in canonical form, and their errors shown. */
import { foundRecord } from '../../../src/cli/io/json.js';
import { READERS } from '../../../src/cli/io/messages.js';
import { reportText } from '../../../src/cli/io/report.js';
import { PROTOCOLS, type Protocol } from '../../../src/cli/protocols.js';
import { visible } from '../../../src/text/visible.js';
import { heading, highlight, indented, type Reporter } from './report.js';

/** The name of the input in reports. */
const NAME = 'conversation';

/** Reports on the messages of a conversation. @param text messages and prose, in the form of `conversation.txt` */
export async function reportConversation(text: string, reporter: Reporter): Promise<void> {
  const conversation = new Conversation(reporter);
  for (const [index, line] of text.split('\n').entries()) await conversation.line(line, index + 1);
  await conversation.summary();
}

/** The counts of one protocol. */
interface Tally {
  messages: number;
  /** Messages that the strict dialect accepts. */
  strict: number;
  /** Messages that only the other dialect accepts. */
  otherDialect: number;
  withWarnings: number;
  rejected: number;
  /** Characters of the accepted messages, and of their canonical forms. */
  characters: number;
  canonicalCharacters: number;
}

class Conversation {
  readonly #tallies = new Map<Protocol, Tally>();
  #found = { inProse: 0, invalid: 0 };

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
    const read = parseAnyDialect(protocol, text);
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
      tally.rejected++;
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
    lines.push(`    ${paint('dim', 'meaning  ')} ${explanation}`);
    if (canonical !== text) lines.push(`    ${paint('dim', 'canonical')} ${visible(canonical)}`);
    if (read.dialect !== 'strict') lines.push(`    ${paint('dim', `accepted by the ${read.dialect} dialect only`)}`);
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
      if (!found.ok) this.#found.invalid++;
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
        `${tally.rejected} rejected; ${tally.withWarnings} with warnings. ` +
        `${tally.characters} characters accepted, ${tally.canonicalCharacters} in canonical form.`,
    );
    lines.push(`In prose and JSON: ${this.#found.inProse} found, ${this.#found.invalid} of them invalid.`);
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
      rejected: 0,
      characters: 0,
      canonicalCharacters: 0,
    };
    this.#tallies.set(protocol, tally);
    return tally;
  }
}

/** Parses with the first dialect that accepts the text. */
function parseAnyDialect(protocol: Protocol, text: string): { node: unknown; dialect: string } | null {
  for (const dialect of protocol.dialects) {
    const result = READERS[protocol.name].parse(text, { dialect });
    if (result.ok) return { node: result.value, dialect };
  }
  return null;
}
