/** The page of a run: static HTML without scripts. Every text from outside is escaped. */
import type { Hop, LabResult } from './lab.js';
import { ANOMALIES } from './payroll.js';

const STYLE = `
:root { color-scheme: light dark; --ink: #1b2428; --soft: #5b6b73; --line: #d5dde1; --back: #fff; --panel: #f5f7f8; --good: #1b7a43; --bad: #b3261e; --mark: #ffe0b2; --mark-ink: #4a2c00 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ecef; --soft: #9db0b9; --line: #37444b; --back: #12181b; --panel: #1b2428; --good: #5fd08f; --bad: #ff8a80; --mark: #5a3d10; --mark-ink: #ffe0b2 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem } h3 { font-size: 1rem; margin: 0 }
p { margin: .4rem 0 } .soft { color: var(--soft) } .good { color: var(--good) } .bad { color: var(--bad) }
code, pre { font: 13px/1.5 ui-monospace, monospace } pre { margin: .5rem 0; padding: .5rem .7rem; background: var(--back); border: 1px solid var(--line); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; margin: .8rem 0 }
section > header { display: flex; gap: 1rem; justify-content: space-between; align-items: baseline }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top } th { color: var(--soft); font-weight: 600 } td.n, th.n { text-align: right }
tr.total td { font-weight: 600 } td.code { background: var(--mark); color: var(--mark-ink); white-space: nowrap } .scroll { overflow-x: auto }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 } dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }`;

/** Returns the page of a run. */
export function pageOf(result: LabResult): string {
  const { period, error, audit, report } = result;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Payroll lab ${escaped(period)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Payroll lab, ${escaped(period)}</h1>
<p class="soft">${escaped(agentsLine(result))}</p>
<p class="${error === null ? 'good' : 'bad'}"><strong>${escaped(error === null ? 'All five hops are done.' : `Stopped: ${error.code}. ${error.message}`)}</strong></p>
<p class="${audit.ok ? 'good' : 'bad'}">${escaped(auditLine(result))}</p>
<h2>Hops</h2>
${result.hops.map((hop, index) => hopHtml(hop, index + 1, result)).join('\n')}
<h2>Tokens and cost</h2>
${costHtml(result)}
${report === null ? '' : `<h2>Anomalies</h2>\n${anomaliesHtml(report.anomalies)}`}
</body>
</html>
`;
}

/** Names the origin of the agents' answers. */
export function agentsLine({ model, counted }: LabResult): string {
  const agents =
    model === null
      ? 'Agents: deterministic stand-ins; no key of a provider is set'
      : `Agents: ${model}; the audit agent is deterministic`;
  return `${agents}. Tokens of agents: ${counted}.`;
}

/** Summarizes the verification of the log. */
export function auditLine({ audit: { ok, records, head, firstFault } }: LabResult): string {
  if (ok) return `The audit log verifies: ${records} records, head ${head.slice(0, 16)}.`;
  return `The audit log does not verify: ${firstFault!.reason} in line ${firstFault!.line}.`;
}

function hopHtml(hop: Hop, number: number, result: LabResult): string {
  const { agent, packet, received, explanation, warnings, hash, jobId, messages, state, error, result: answer } = hop;
  const rows: readonly (readonly [string, string] | null)[] = [
    ['Means', explanation],
    [
      'Validation',
      state === 'not run'
        ? 'not sent'
        : `valid when sent${warnings.length === 0 ? ', no warnings' : `, warnings: ${warnings.join(', ')}`}${error === null ? '; accepted' : `; refused: ${error.code}`}`,
    ],
    ['Hash', hash],
    jobId === null ? null : ['ARCP job', `${jobId}: ${messages.join(', ')}`],
    error === null ? null : ['Error', error.message],
    answer === null ? null : ['Result', answer.summary],
    answer === null || answer.reading === null
      ? null
      : ['Reading', `the agent's reading ${answer.reading === 'matches' ? 'matches' : 'differs from'} the packet`],
    ['Tokens', tokensLine(hop, result)],
  ];
  return `<section>
<header><h3>${number}. ${escaped(agent)}</h3><span class="${state === 'done' ? 'good' : state === 'refused' ? 'bad' : 'soft'}">${state}</span></header>
<p class="soft">${escaped(hop.english)}</p>
<pre>${escaped(packet)}</pre>
${received === null ? '' : `<p class="bad">Received, changed on the way:</p>\n<pre>${escaped(received)}</pre>`}
<dl>${rows.map((row) => (row === null ? '' : `<dt>${row[0]}</dt><dd>${escaped(row[1])}</dd>`)).join('')}</dl>
</section>`;
}

function tokensLine({ packetTokens, englishTokens, result: answer }: Hop, { counter }: LabResult): string {
  const saved = percent((packetTokens - englishTokens) / englishTokens);
  const coordination = `packet ${packetTokens}, the English ${englishTokens} (${saved}), counted with ${counter}`;
  return answer === null ? coordination : `${coordination}; agent ${answer.inputTokens} in, ${answer.outputTokens} out`;
}

function costHtml({ hops, prices, model }: LabResult): string {
  const names = Object.keys(prices.models);
  const totals = { packet: 0, english: 0, input: 0, output: 0 };
  const rows = hops.map(({ agent, packetTokens, englishTokens, result }) => {
    const input = result?.inputTokens ?? 0;
    const output = result?.outputTokens ?? 0;
    totals.packet += packetTokens;
    totals.english += englishTokens;
    totals.input += input;
    totals.output += output;
    return rowOf(
      agent,
      [packetTokens, englishTokens, input, output],
      names.map((name) => dollars(costOf(prices.models[name]!, input, output))),
    );
  });
  const costs = names.map((name) => dollars(costOf(prices.models[name]!, totals.input, totals.output)));
  const unknown = model !== null && !names.includes(model) ? ` The price of ${model} is unknown.` : '';
  return `<p class="soft">The costs are estimates: tokens of agents times <em>assumed</em> prices as of ${escaped(prices.asOf)}. ${escaped(prices.note)}${escaped(unknown)} The encoders call no model.${model === null ? ' The stand-ins cost nothing; the columns show what a model with as many tokens would cost.' : ''}</p>
<div class="scroll"><table>
<tr><th>Hop</th>${['Packet', 'English', 'Agent in', 'Agent out', ...names].map((name) => `<th class="n">${escaped(name)}</th>`).join('')}</tr>
${rows.join('\n')}
${rowOf('Total', [totals.packet, totals.english, totals.input, totals.output], costs, 'total')}
</table></div>`;
}

function rowOf(name: string, counts: readonly number[], costs: readonly string[], kind = ''): string {
  const cells = [...counts.map((count) => count.toLocaleString('en')), ...costs].map(
    (text) => `<td class="n">${escaped(text)}</td>`,
  );
  return `<tr class="${kind}"><td>${escaped(name)}</td>${cells.join('')}</tr>`;
}

/** Returns the estimated cost in US dollars. */
export function costOf(
  { input, output }: { readonly input: number; readonly output: number },
  inputTokens: number,
  outputTokens: number,
): number {
  return (inputTokens * input + outputTokens * output) / 1e6;
}

export function dollars(cost: number): string {
  return `$${cost.toFixed(4)}`;
}

function anomaliesHtml(anomalies: NonNullable<LabResult['report']>['anomalies']): string {
  const rows = anomalies.map(
    ({ code, subject, period, detail }) =>
      `<tr><td class="code">${escaped(code)}</td><td>${escaped(subject)}</td><td>${escaped(period)}</td><td>${escaped(detail)}</td><td class="soft">${escaped(ANOMALIES[code])}</td></tr>`,
  );
  return `<div class="scroll"><table><tr><th>Code</th><th>Subject</th><th>Period</th><th>Detail</th><th>Meaning</th></tr>\n${rows.join('\n')}\n</table></div>`;
}

function percent(part: number): string {
  return `${part > 0 ? '+' : ''}${(part * 100).toFixed(1)} %`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
