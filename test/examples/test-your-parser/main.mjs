import { createInterface } from 'node:readline';

const NAME = /^[A-Z][A-Z0-9_-]*$/;
const FIELD = /^[a-z][a-z0-9_]*:(?! )\P{Cc}*(?<! )$/u;

/** The parser under test. Replace it with yours. */
function accepts(text) {
  const [task, domain = '', ...fields] = text.split('|');
  return NAME.test(task) && NAME.test(domain) && fields.every((field) => field === '' || FIELD.test(field));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { input } = JSON.parse(line);
  console.log(JSON.stringify({ ok: accepts(input) }));
}
