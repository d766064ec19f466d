/** Compiled and run by a project of its own that has installed the packed package: what an importer sees. */
import {
  canonicalizePacket,
  type Frame,
  type ParseError,
  parseFrame,
  printFrame,
  tryParsePacket,
  type Value,
} from 'pegwire';
import { validatePacket } from 'pegwire/aacp';
import { validateAsSdkPy } from 'pegwire/aacp/compat';
import { findPackets } from 'pegwire/aacp/find';
import { explainFrame } from 'pegwire/accp';
import { findFrames } from 'pegwire/accp/find';
import { frameSchema } from 'pegwire/accp/schema';
import { compileGrammar, exportGrammar, generateSentences } from 'pegwire/engine';
import * as aacp from 'pegwire/generated/aacp';
import * as accp from 'pegwire/generated/accp';
import { accpLanguage } from 'pegwire/languages';

const value = parseFrame('@a>b:c{k:[1,x]}').payload[0].value;
let seen = '';
switch (value.kind) {
  case 'array': {
    const items: readonly Value[] = value.items;
    seen = `array of ${items.length}`;
    break;
  }
  case 'integer': {
    const number: number | bigint = value.value;
    seen = String(number);
    break;
  }
  case 'ref':
    seen = value.path;
    break;
  case 'null':
    // @ts-expect-error: a null node has no value
    seen = value.value;
    break;
  default:
    seen = value.kind;
}
// @ts-expect-error: only an array has items
void value.items;
// @ts-expect-error: nodes are read-only
value.kind = 'map';
// @ts-expect-error: no such dialect
export const wrong = (): Frame => parseFrame('@a>b:c{}', { dialect: 'loose' });

const raw: Frame = accp.parse('@a>b:c{k:@dev}', { dialect: 'lenient', spans: true });
// @ts-expect-error: no such option
void accp.parse('@a>b:c{}', { dialekt: 'lenient' });
const packet = aacp.parse('ACK|HR|return:A');
try {
  accp.parse('nothing');
} catch (error) {
  if (!(error instanceof accp.SyntaxError)) throw error;
  seen += ` ${error.location.start.offset}`;
}

const result = tryParsePacket('ACK|HR|return:A|');
if (result.ok) throw new Error('accepted');
const error: ParseError = result.error;

console.log(
  JSON.stringify([
    seen,
    printFrame(raw),
    packet.fields[0].value,
    canonicalizePacket(packet).task,
    error.code,
    validatePacket('FECH|HR').warnings[0].help,
    validateAsSdkPy('').valid,
    findFrames('see @a>b:c{}')[0].start,
    findPackets('see ACK|HR|return:A now')[0].text,
    explainFrame(raw).length > 0,
    exportGrammar(compileGrammar('bit = [01]'), { to: 'regex' }).includes('[01]'),
    frameSchema.safeParse(raw).success,
    [...generateSentences(accpLanguage({ intents: ['req'] }).grammar, { count: 2 })].every((text) =>
      text.includes('>req:'),
    ),
  ]),
);
