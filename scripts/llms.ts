/**
 * Generates llms.txt, a summary of the package for language models; with --check, fails if it is out of date.
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

/** Returns the rules and examples of an instruction, without its first line. */
function rulesOf({ text }: ModelPrompt): string {
  return text.slice(text.indexOf('\n') + 1);
}

async function content(length: number): Promise<string> {
  return `# pegwire

> Reads, checks, writes and explains the messages of two agent protocols: ACCP frames (draft-benzing-accp-00) and AACP packets (draft-mackay-aacp-01). TypeScript, ESM, Node 20 or later. This file: ${length} tokens (o200k_base).

## ACCP frames

One line, no spaces, no quotes.
${rulesOf(await framePrompt())}

## AACP packets

One line, no blanks around | or :.
${rulesOf(await packetPrompt())}

## Library

\`\`\`ts
import { explainFrame, parseFrame, printFrame, tryParseFrame } from 'pegwire/accp';
import { canonicalizePacket, parsePacket, printPacket, validatePacket } from 'pegwire/aacp';
import { findFrames } from 'pegwire/accp/find'; // messages inside any text; findPackets from pegwire/aacp/find

const frame = parseFrame('@a>req:x{n:1}'); // throws ParseError; tryParseFrame returns { ok, value | error }
frame.payload[0].value; // { kind: 'integer', value: 1 }
printFrame(frame); // canonical text; throws if the text would not parse as the same tree
validatePacket('ACK|HR|return:A|aacp:1.1'); // { valid, packet, errors, warnings }
\`\`\`

Trees are plain objects discriminated by \`kind\`; values are string, integer, decimal, boolean, null, array, map, ref. Build them by hand and print them: printing escapes. Errors have code, message, span, help and format().

## Command line

\`pegwire <command> <accp|aacp> [file]\` reads messages, one per line, from the file or stdin; --json prints JSON, --help lists the options; exit code 1 if a message is invalid.

- parse, fmt, check, explain, find: trees, canonical text, errors and warnings, plain English, messages in prose
- prompt: these rules for a model, narrowed: \`pegwire prompt accp --intents req --fields 'q:string,n:integer?'\`
- export: the grammar for other engines; fuzz, conformance: test another implementation
- registry learn FILE: a registry for compact frames (\`pegwire/accp/compact\`), TypeScript types and zod schemas, from a sample of messages
- arcp serve, invoke, tail, status, graph, validate, schema: runtimes of ARCP, the runtime protocol, and their logs
- serve: an ACCP endpoint over HTTP and WebSocket; connect URL: talk to one; acp run -- CMD: batches for an agent that speaks JSON-RPC
- lsp: the language server for editors
`;
}

/** Returns the text with its own length: repeats the count until it does not change. */
async function contentWithLength(): Promise<string> {
  let length = 0;
  for (let round = 0; round < 5; round++) {
    const text = await content(length);
    const { tokens, exact } = await countTokens(text);
    if (!exact) throw new Error('llms.txt contains an exact count; install gpt-tokenizer');
    if (tokens === length) return text;
    length = tokens;
  }
  throw new Error('The length of llms.txt does not converge; change a word');
}

async function main(check: boolean): Promise<number> {
  const text = await contentWithLength();
  if (!check) {
    await writeFile(FILE, text);
    console.log('Wrote llms.txt.');
    return 0;
  }
  if ((await readFile(FILE, 'utf8').catch(() => null)) === text) {
    console.log('llms.txt is up to date.');
    return 0;
  }
  console.error('llms.txt is out of date. Run `npx tsx scripts/llms.ts` and commit the result.');
  return 1;
}

process.exitCode = await main(process.argv.includes('--check'));
