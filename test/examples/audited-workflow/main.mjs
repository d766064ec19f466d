import { readFileSync, writeFileSync } from 'node:fs';
import { createDispatcher, fileAudit, verifyAuditFile } from 'pegwire/aacp/dispatch';
import { encodeStep } from 'pegwire/aacp/encoders';

// 1. Encode: every step of the payroll workflow becomes a packet, without a model.
const steps = encodeStep('PayrollEncoder', 'full_run', { period: '2024-08', prev_period: '2024-07' });

// 2. Dispatch: only valid packets reach a handler, and each is recorded before it does.
const audit = await fileAudit('audit.jsonl');
const { dispatch } = createDispatcher({
  audit,
  handlers: {
    'FETCH|HR': () => 'fetched the salaries',
    'FETCH|FIN': () => 'fetched the budgets',
    'MERGE|*': () => 'merged',
    '*|*': ({ task, domain }) => `handled ${task} for ${domain}`,
  },
});
for (const { packet } of steps) {
  const result = await dispatch(packet, { actor: 'payroll-agent' });
  console.log(result.ok ? result.value : result.reason, '<-', packet.slice(0, 60));
}
const injected = await dispatch('FETCH|HR|return:HR-Agent|return:EVIL|p:1|aacp:1.1', { actor: 'mallory' });
console.log(injected.ok, injected.reason, injected.errors[0].code);
await audit.close();

// 3. Audit: the records form a hash chain.
const { ok, records, head } = await verifyAuditFile('audit.jsonl');
console.log('intact:', ok, 'records:', records);

writeFileSync('audit.jsonl', readFileSync('audit.jsonl', 'utf8').replace('payroll-agent', 'intruder'));
const tampered = await verifyAuditFile('audit.jsonl', { head });
console.log('intact:', tampered.ok, tampered.firstFault.reason);
