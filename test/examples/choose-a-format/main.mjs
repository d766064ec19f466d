import { parseFrame } from 'pegwire/accp';
import { compareTokens } from 'pegwire/tokens';

// One message in each form. Replace it with a message of your own.
const frame =
  '@research>done:analyze{d:q3_sales|rev:142.5|churn:-0.03|risks:[supply,fx]}[mid:49679033e07c,seq:3,ts:1714000000]';
const { agent, intent, operation } = parseFrame(frame);
const { counts, exact, encoding } = await compareTokens({
  english: 'Research: the analysis of the Q3 sales is done. Revenue 142.5, churn -0.03, risks: supply and fx.',
  message: {
    ...{ agent, intent, operation },
    payload: { data: 'q3_sales', revenue: 142.5, churn: -0.03, risks: ['supply', 'fx'] },
    envelope: { msg_id: '49679033e07c', sequence: 3, timestamp: 1714000000 },
  },
  frame,
  frameBody: frame.slice(0, frame.indexOf('[mid')),
});

console.log(`${exact ? 'exact' : 'estimated'} tokens, ${encoding}`);
for (const { notation, body, total } of counts) {
  console.log(notation.padEnd(12), String(body ?? '-').padStart(4), 'with envelope', String(total ?? '-').padStart(4));
}
