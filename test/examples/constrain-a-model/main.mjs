import { writeFileSync } from 'node:fs';
import { tryParseFrame } from 'pegwire/accp';
import { exportGrammar, generateSentences } from 'pegwire/engine/portable';
import { accpLanguage, modelPrompt } from 'pegwire/languages';

const allowed = {
  agents: ['lookup'],
  intents: ['done', 'fail'],
  operations: ['find'],
  fields: { status: { enum: ['open', 'closed'] }, rows: { type: 'integer', optional: true } },
  metadata: 'none',
};
const language = accpLanguage(allowed);

// For llama.cpp and XGrammar: a grammar that the engine enforces while the model writes.
writeFileSync('reply.gbnf', exportGrammar(language.exportable, { to: 'gbnf' }));
// For OpenAI custom tools and llguidance.
writeFileSync('reply.lark', exportGrammar(language.exportable, { to: 'lark' }));

// The instruction for the model.
const prompt = await modelPrompt('accp', allowed);
console.log(prompt.text);

// Samples of the texts that a constrained model can write: each one parses.
for (const text of generateSentences(language.grammar, { seed: 1, count: 3 })) {
  console.log(text, tryParseFrame(text).ok);
}
