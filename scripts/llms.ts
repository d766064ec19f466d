/**
 * Writes llms.txt, the package in short for models that work with it, or with --check compares what is there.
 *
 *     npx tsx scripts/llms.ts
 *     npx tsx scripts/llms.ts --check
 */
import { readFile, writeFile } from 'node:fs/promises';
import { packetPrompt } from '../src/aacp/language/prompt.js';
import { framePrompt } from '../src/accp/language/prompt.js';
import { countTokens } from '../src/tokens/load-counter.js';
import type { ModelPrompt } from '../src/tokens/prompt.js';

const FILE = new URL('../llms.txt', import.meta.url);

/** The rules and examples of an instruction, without the call for a reply at its head. */
function form({ text }: ModelPrompt): string {
  return text.slice(text.indexOf('\n') + 1);
}

async function content(length: number): Promise<string> {
  return `# pegwire

> Reads, checks, writes and explains the messages of two agent protocols: ACCP frames (draft-benzing-accp-00) and AACP packets (draft-mackay-aacp-01). TypeScript, ESM, Node 20 or later. This file: ${length} tokens (o200k_base).

## ACCP frames

One line, no spaces, no quotes.
${form(await framePrompt())}

## AACP packets

One line, no blanks around | or :.
${form(await packetPrompt())}

## Library

\`\`\`ts
import { explainFrame, parseFrame, printFrame, tryParseFrame } from 'pegwire/accp';
import { canonicalizePacket, parsePacket, printPacket, validatePacket } from 'pegwire/aacp';
import { findFrames } from 'pegwire/accp/find'; // messages inside any text; findPackets from pegwire/aacp/find

const frame = parseFrame('@a>req:x{n:1}'); // throws ParseError; tryParseFrame returns { ok, value | error }
frame.payload[0].value; // { kind: 'integer', value: 1 }
printFrame(frame); // canonical text; throws on a tree that would not read back as itself
validatePacket('ACK|HR|return:A|aacp:1.1'); // { valid, packet, errors, warnings }
\`\`\`

Trees are plain objects told apart by \`kind\`; values are string, integer, decimal, boolean, null, array, map, ref. Build them by hand and print them: printing escapes. Errors have code, message, span, help and format().

## Command line

\`pegwire <command> <accp|aacp> [file]\` reads messages, one a line, from the file or stdin; --json for programs, --help for options; exit code 1 where a message is not valid.

- parse, fmt, check, explain, find: trees, canonical text, errors and warnings, plain English, messages in prose
- prompt: these rules for a model, narrowed: \`pegwire prompt accp --intents req --fields 'q:string,n:integer?'\`
- export: the grammar for other engines; fuzz, conformance: test another implementation
- arcp serve, invoke, tail, graph, validate, schema: runtimes of ARCP, the runtime protocol, and their logs
- serve: an ACCP endpoint over HTTP and WebSocket; connect URL: talk to one; acp run -- CMD: batches for an agent that speaks JSON-RPC
`;
}

/** The length is part of what is counted: until it does not change. */
async function settled(): Promise<string> {
  let length = 0;
  for (let round = 0; round < 5; round++) {
    const text = await content(length);
    const { tokens, exact } = await countTokens(text);
    if (!exact) throw new Error('llms.txt states an exact count: install gpt-tokenizer');
    if (tokens === length) return text;
    length = tokens;
  }
  throw new Error('The length of llms.txt changes with every count of it: change a word');
}

async function main(check: boolean): Promise<number> {
  const text = await settled();
  if (!check) {
    await writeFile(FILE, text);
    console.log('llms.txt is written.');
    return 0;
  }
  if ((await readFile(FILE, 'utf8').catch(() => null)) === text) {
    console.log('llms.txt is up to date.');
    return 0;
  }
  console.error('Stale: llms.txt. Run `npx tsx scripts/llms.ts` and commit the result.');
  return 1;
}

process.exitCode = await main(process.argv.includes('--check'));
