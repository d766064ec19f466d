/** The examples of the gallery. */

export interface Example {
  readonly tab: string;
  readonly title: string;
  readonly description: string;
  readonly state: Readonly<Record<string, unknown>>;
}

const TWO_MESSAGES = [
  '@planner>req:schedule{task:impl_auth|pri:high|tags:[api,login]}[mid:m1,seq:1,ts:1714000000]',
  '@dev>done:schedule{res:{commits:3,tests:true}|nx:\\@reviewer}[mid:m2,seq:2,ts:1714000042,cid:m1]',
].join('\n');

const PEOPLE = [
  { id: 1, name: 'Ann Lee', role: 'admin', active: true },
  { id: 2, name: 'Bo Chen', role: 'user', active: true },
  { id: 3, name: 'Cy Diaz', role: 'user', active: false },
];

/** The states that the tabs begin with are the first examples of each. */
export const EXAMPLES: readonly Example[] = [
  {
    tab: 'accp',
    title: 'Request and answer',
    description: 'Two frames: a request, and the answer to it.',
    state: { text: TWO_MESSAGES, choice: 'strict' },
  },
  {
    tab: 'accp',
    title: 'Tool call',
    description: 'A call of a tool with nested arguments, and an amount with its exact digits.',
    state: {
      text: '@agent>req:tool{tool:refund|args:{order:o_17,amt:42.50,notify:true}|schema:TC}[mid:a1b2,seq:7,cid:t9,ttl:30]',
      choice: 'strict',
    },
  },
  {
    tab: 'accp',
    title: 'Mention in the lenient dialect',
    description: 'The examples of the draft write mentions and keyed items without escapes.',
    state: {
      text: '@research>done:analyze{d:q3_sales|f:[rev:-12%,churn:+3.2%]|nx:@strategy:plan}[mid:49679033e07c,seq:3]',
      choice: 'lenient',
    },
  },
  {
    tab: 'accp',
    title: 'Reference and state',
    description: 'A reference to a checkpoint, null, and numbers beyond 2^53.',
    state: {
      text: '@ops>sync:state{v:4|delta:{owner:~,count:9007199254740993}|ctx:$warm.ckpt_1.status}[mid:s4,seq:12]',
      choice: 'strict',
    },
  },
  {
    tab: 'aacp',
    title: 'Payroll query',
    description: 'Fetch the salaries of a period.',
    state: { text: 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|fmt:json', choice: 'draft' },
  },
  {
    tab: 'aacp',
    title: 'Misspelt packet',
    description: 'An unknown TASK, a missing version and a bad priority, each with a fix.',
    state: { text: 'FECH|HR|return:HR-Agent|p:9|res:emp_salary', choice: 'draft' },
  },
  {
    tab: 'aacp',
    title: 'Complaint',
    description: 'A customer complaint with sentiment and tone.',
    state: {
      text: 'RESOLVE|CS|return:CS-Agent|p:1|aacp:1.1|issue:late_delivery|sentiment:angry|tone:apologetic',
      choice: 'draft',
    },
  },
  {
    tab: 'formats',
    title: 'List of people',
    description: 'Objects with equal keys, which tables make short.',
    state: { json: JSON.stringify(PEOPLE, null, 2) },
  },
  {
    tab: 'formats',
    title: 'Message',
    description: 'A request with a nested payload.',
    state: {
      json: JSON.stringify(
        {
          intent: 'req',
          operation: 'schedule',
          payload: { task: 'implement login', priority: 'high', deadline: '2026-06-02', reviewers: ['ann', 'bo'] },
        },
        null,
        2,
      ),
    },
  },
  {
    tab: 'grammar',
    title: 'Arithmetic',
    description: 'Sums and products, evaluated.',
    state: {
      grammar: `sum = head:product tail:(_ [+-] _ product)* { return tail.reduce((left, [, op, , right]) => op === '+' ? left + right : left - right, head); }
product = head:value tail:(_ [*/] _ value)* { return tail.reduce((left, [, op, , right]) => op === '*' ? left * right : left / right, head); }
value = number / "(" _ @sum _ ")"
number "number" = digits:$[0-9]+ { return Number(digits); }
_ = " "*
`,
      text: '2 * (3 + 4) - 5',
    },
  },
  {
    tab: 'grammar',
    title: 'Key and value lines',
    description: 'A small configuration format.',
    state: {
      grammar: `file = entries:line* { return Object.fromEntries(entries); }
line = key:$[a-z_]+ " "* "=" " "* value:value "\\n" { return [key, value]; }
value = boolean / number / word
boolean = text:("true" / "false") ![a-z_] { return text === "true"; }
number = text:$[0-9]+ { return Number(text); }
word = $[a-z_]+
`,
      text: 'port = 8080\nhost = example\ndebug = true\n',
    },
  },
  {
    tab: 'session',
    title: 'Lost frame',
    description: 'The second request is lost; the agents find out and send it again.',
    state: {
      script: [
        { agent: 'planner', intent: 'req', operation: 'schedule', payload: { task: 'design' } },
        { agent: 'planner', intent: 'req', operation: 'schedule', payload: { task: 'implement' } },
        { agent: 'planner', intent: 'req', operation: 'schedule', payload: { task: 'review' } },
        { agent: 'dev', intent: 'done', operation: 'schedule', payload: { result: 'all three' } },
      ]
        .map((message) => JSON.stringify(message))
        .join('\n'),
      lost: [1],
      repeated: [],
      compact: false,
    },
  },
  {
    tab: 'session',
    title: 'Compact frames',
    description: 'Both sides announce compact1 and then send numbers for what they have learned.',
    state: {
      script: [
        { agent: 'planner', intent: 'req', operation: 'lookup', payload: { query: 'users', limit: 10 } },
        { agent: 'planner', intent: 'req', operation: 'lookup', payload: { query: 'orders', limit: 20 } },
        { agent: 'db', intent: 'done', operation: 'lookup', payload: { data: PEOPLE.slice(0, 2) } },
      ]
        .map((message) => JSON.stringify(message))
        .join('\n'),
      lost: [],
      repeated: [1],
      compact: true,
    },
  },
];

/** Returns the state that a tab begins with. */
export function firstState(tab: string): Readonly<Record<string, unknown>> {
  return EXAMPLES.find((example) => example.tab === tab)!.state;
}
