import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { describeWorkflow, encodeStep, listWorkflows, PayrollEncoder } from '../../../../src/aacp/encoders/index.js';
import type { Ended } from '../../../helpers/child.js';
import { cli, jsonLines, lines, program, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();
const SALARIES = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json';

function encode(step: string, args: readonly string[] = [], stdin = ''): Promise<Ended> {
  return cli(['encode', 'aacp', '--workflow', step, ...args], { stdin });
}

/** Runs a command line that is wrong, and returns its error. */
async function wrong(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(['encode', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr.split('\n')[0]!.replace(/^error\[[\w-]+\]: /, '');
}

describe('encode aacp --workflow', () => {
  test('prints the packet of a step, as the library does', async () => {
    expect(await encode('payroll.fetch_employees', ['--period', '2024-08'])).toEqual({
      code: 0,
      stdout: `${SALARIES}\n`,
      stderr: '',
    });
  });

  test.each(['PayrollEncoder.fetch_employees', 'payroll.fetchEmployees', 'Payroll.fetch-employees'])(
    'accepts the name %s',
    async (step) => {
      expect((await encode(step, ['--period', '2024-08'])).stdout).toBe(`${SALARIES}\n`);
    },
  );

  test('prints one line per packet of a sequence', async () => {
    const { code, stdout } = await encode('payroll.full_run', ['--period', '2024-08', '--prev-period', '2024-07']);
    const packets = PayrollEncoder.full_run({ period: '2024-08', prev_period: '2024-07' }).map(({ packet }) => packet);
    expect({ code, stdout }).toEqual({ code: 0, stdout: lines(...packets) });
    expect(packets).toHaveLength(6);
  });

  test('accepts every example of the catalogue as options', async () => {
    for (const { encoder, methods } of listWorkflows()) {
      for (const { name, example } of methods) {
        const args = Object.entries(example!.args).map(([input, value]) => `--${input}=${String(value)}`);
        const { stdout } = await encode(`${encoder}.${name}`, args);
        expect(stdout).toBe(lines(...example!.packets));
      }
    }
  });

  test('accepts the return agent and the priority, with hyphens or underscores', async () => {
    for (const option of ['--return_agent', '--return-agent']) {
      const { stdout } = await encode('payroll.fetch_employees', [
        '--period',
        '2024-08',
        option,
        'X',
        '--priority',
        '3',
      ]);
      expect(stdout).toContain('|return:X|p:3|');
    }
  });

  test('accepts lists separated by commas, repeated options, or both', async () => {
    for (const fields of [
      ['--fields', 'a,b,c'],
      ['--fields', 'a', '--fields=b', '--fields', 'c'],
      ['--fields', 'a,b', '--fields=c'],
    ]) {
      const { stdout } = await encode('payroll.fetch_employees', ['--period', '2024-08', ...fields]);
      expect(stdout).toContain('|fields:a,b,c|');
    }
  });

  test('accepts a boolean as a flag, or with true or false', async () => {
    const goodwill = async (...args: readonly string[]): Promise<boolean> => {
      const { stdout } = await encode('cs_resolution.resolve_complaint', ['--ticket_id', 'T-1', ...args]);
      expect(stdout).toMatch(/^RESOLVE\|CS\|/);
      return stdout.includes('goodwill_consider');
    };
    expect(await goodwill('--goodwill')).toBe(true);
    expect(await goodwill('--goodwill', 'true')).toBe(true);
    expect(await goodwill('--goodwill=false')).toBe(false);
    expect(await goodwill()).toBe(false);
  });

  test('an input may have the name of an option of another encoder', async () => {
    const { stdout } = await encode('payroll.merge_and_calculate', ['--period', '2024-08', '--rules', 'payroll_v3']);
    expect(stdout).toContain('|rules:payroll_v3|');
  });

  test('reports changed values on stderr', async () => {
    const invoice = ['--amount', '4200.10', '--currency', 'gbp', '--purchase_order', 'PO-441'];
    const { stdout, stderr } = await encode('invoice.process_invoice', ['--supplier', 'ABC Ltd', ...invoice]);
    expect(stdout).toMatch(/\|amt:4200\.10\|ccy:GBP\|sup:ABC-Ltd\|/);
    expect(stderr.split('\n').sort()).toEqual([
      '',
      'currency "gbp" is written in ccy as "GBP", in upper case',
      'supplier "ABC Ltd" is written in sup as "ABC-Ltd", with hyphens for spaces',
    ]);
  });

  test('reports the data behind a pointer on stderr', async () => {
    const { stdout, stderr } = await encode('it.provision_email', ['--email', 'j@example.com']);
    expect(stdout).not.toContain('@');
    const [, pointer] = /data_ptr:(sha256:[0-9a-f]{64})\n/.exec(stdout)!;
    expect(stderr).toBe(
      `data_ptr ${pointer} refers to email "j@example.com"; store these where the receiver can look them up\n`,
    );
  });

  test('--compat sdk prints the packets of the reference SDK, and reports omitted inputs', async () => {
    const args = ['--period', '2024-08', '--fields', 'a', '--compat', 'sdk'];
    expect(await encode('payroll.fetch_employees', args)).toEqual({
      code: 0,
      stdout: `${SALARIES}\n`,
      stderr: 'fields "a" is omitted, as in the reference SDK\n',
    });
  });

  test('--receiver-knows-fields omits field lists', async () => {
    const args = ['--period', '2024-08', '--fields', 'a', '--receiver-knows-fields'];
    const { stdout, stderr } = await encode('payroll.fetch_employees', args);
    expect(stdout).not.toContain('fields:');
    expect(stderr).toBe('fields "a" is omitted, since the receiver knows it\n');
  });

  test('--json prints all results, one document per packet', async () => {
    const args = ['--username', 'j.smith', '--email', 'j@example.com', '--department', 'Sales', '--json'];
    const { code, stdout, stderr } = await encode('it.full_onboarding', args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, ...others] = jsonLines(stdout) as { packet: string }[];
    expect(first).toEqual({
      ok: true,
      packet: expect.stringMatching(/^BUILD\|IT\|.*\|data_ptr:sha256:/),
      step: 'ITEncoder.create_ad_account',
      task: 'BUILD',
      domain: 'IT',
      tokens: { packet: expect.any(Number), exact: true, encoding: 'o200k_base' },
      losses: [expect.objectContaining({ input: 'email', kind: 'referenced', from: 'j@example.com' })],
      diagnostics: [],
      lint: [],
      referenced: { pointer: /data_ptr:(.*)$/.exec(first!.packet)![1], data: { email: 'j@example.com' } },
      cost: 0,
    });
    expect(others).toHaveLength(5);
  });
});

describe('inputs that should not be in a packet', () => {
  const args = ['--username', 'jo@example.com', '--profile', 'a\u202eb', '--team', 't'];

  test('are reported by name, and encoded', async () => {
    const { code, stdout, stderr } = await encode('it.provision_crm', args);
    expect(code).toBe(0);
    expect(stdout).toContain('jo@example.com');
    expect(stderr).toMatch(
      /^warning\[sensitive-value\]: username: The value of "filter" looks like an e-mail address; /m,
    );
    expect(stderr).toMatch(/^warning\[invisible-character\]: profile: .*\(U\+202E\); /m);
    expect(stderr).not.toContain('jo@example.com');
    expect(stderr).not.toContain('\u202e');
  });

  test('are members of the document with --json', async () => {
    const { stdout } = await encode('it.provision_crm', [...args, '--json']);
    expect(jsonLines(stdout)).toMatchObject([
      {
        ok: true,
        lint: [
          { code: 'sensitive-value', input: 'username' },
          { code: 'invisible-character', input: 'profile' },
        ],
      },
    ]);
  });

  test('a currency of another form is rejected', async () => {
    const inputs = ['--supplier', 'A', '--amount', '1', '--currency', 'euros'];
    const { code, stdout, stderr } = await encode('invoice.schedule_payment', inputs);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('error[bad-input]: currency: "euros" is not three letters');
  });
});

describe('inputs as JSON', () => {
  const INVOICE = { supplier: 'ABC', amount: 4200, currency: 'GBP', purchase_order: 'PO-1' };

  test('are accepted in --input, in addition to options', async () => {
    const { code, stdout } = await encode('invoice.process_invoice', [
      '--input',
      JSON.stringify(INVOICE),
      '--supplier=other',
      '--terms=net60',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\|sup:ABC\|.*\|terms:net60\|/);
  });

  test('are read from stdin, one object per line, and an error does not stop the others', async () => {
    const stdin = lines(JSON.stringify(INVOICE), '{"supplier":', '[1]', '{"supplier":"a|b"}', JSON.stringify(INVOICE));
    const { code, stdout, stderr } = await encode('invoice.process_invoice', [], stdin);
    expect(code).toBe(1);
    expect(stdout.match(/^PROC\|FIN\|/gm)).toHaveLength(2);
    for (const expected of [
      'error[not-json]',
      'stdin:2:',
      'error[bad-input]',
      'stdin:3:',
      'error[separator]',
      'stdin:4:',
    ])
      expect(stderr).toContain(expected);
  });

  test('are read from a file, with options for all of its lines', async () => {
    const file = scratch.write('invoices.jsonl', lines(JSON.stringify(INVOICE), '{"supplier":"b"}'));
    const args = ['encode', 'aacp', file, '--workflow', 'invoice.process_invoice', '--json', '--priority', '3'];
    const { code, stdout } = await cli(args, { stdin: 'not read' });
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: true, packet: expect.stringContaining('|p:3|'), cost: 0 },
      { line: 2, ok: false, error: { code: 'missing-input', path: 'amount' } },
    ]);
  });

  test('numbers keep all of their digits', async () => {
    for (const amount of ['12345678901234567890123', '12345678901234567.89', '0.1']) {
      const input = JSON.stringify(INVOICE).replace('4200', amount);
      expect((await encode('invoice.process_invoice', ['--input', input])).stdout).toContain(`|amt:${amount}|`);
    }
  });

  test('unknown names are rejected, even hostile ones', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const { code, stderr } = await encode('payroll.fetch_employees', ['--input', `{"${name}":{"x":1}}`]);
      expect(code).toBe(1);
      expect(stderr).toContain(`error[unknown-input]: ${name}: is not an input of PayrollEncoder.fetch_employees`);
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('must not be missing', async () => {
    expect(await encode('payroll.fetch_employees')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'error[empty]: The input is empty; expected at least one JSON object with the inputs of payroll.fetch_employees.\n',
    });
  });

  test('are not read from a terminal', async () => {
    const endless = new Readable({
      read() {
        this.destroy(new Error('it was read'));
      },
    });
    const stdin = Object.assign(endless, { isTTY: true });
    const { code, stderr } = await cli(['encode', 'aacp', '--workflow', 'payroll.fetch_employees'], { stdin });
    expect(code).toBe(1);
    expect(stderr).toContain('error[missing-input]: period: is missing');
  });
});

describe('invalid inputs are rejected with exit code 1', () => {
  test.each([
    ['a separator', ['--period', 'a|b'], 'error[separator]: period: '],
    ['a line end', ['--period', 'a\nb'], 'error[control-character]: period: '],
    ['a priority that is none', ['--period', '2024-08', '--priority', '9'], 'error[bad-input]: priority: '],
    ['an empty item', ['--period', '2024-08', '--fields', 'a,,b'], 'fields[1]: '],
    ['a missing input', ['--fields', 'a'], 'error[missing-input]: period: is missing\nhelp: the month'],
  ])('%s', async (_what, args, expected) => {
    const { code, stdout, stderr } = await encode('payroll.fetch_employees', args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(expected);
    const inJson = await encode('payroll.fetch_employees', [...args, '--json']);
    expect(inJson).toMatchObject({ code: 1, stderr: '' });
    expect(jsonLines(inJson.stdout)).toEqual([{ ok: false, error: expect.objectContaining({ name: 'EncodeError' }) }]);
  });
});

describe('incorrect usage', () => {
  test('an unknown input is reported with the nearest name and all inputs', async () => {
    expect(await wrong('aacp', '--workflow', 'payroll.fetch_employees', '--perod', '2024-08')).toBe(
      'Unknown option --perod; did you mean "--period"? ' +
        'payroll.fetch_employees has the inputs --period, --fields, --return_agent, --priority.',
    );
    expect(await wrong('aacp', '--workflow', 'payroll.fetch_employees', '--domain', 'HR')).toBe(
      'Unknown option --domain; payroll.fetch_employees has the inputs --period, --fields, --return_agent, --priority.',
    );
  });

  test('an unknown workflow or step is reported with the nearest name or all names', async () => {
    expect(await wrong('aacp', '--workflow', 'payrol.fetch_employees')).toBe(
      'Unknown workflow "payrol"; did you mean "payroll"?',
    );
    expect(await wrong('aacp', '--workflow', 'constructor.x')).toMatch(/; expected payroll, it, invoice, /);
    expect(await wrong('aacp', '--workflow', 'payroll.fetch_employee')).toBe(
      'Unknown step "fetch_employee" of payroll; did you mean "fetch_employees"?',
    );
    expect(await wrong('aacp', '--workflow', 'payroll')).toMatch(/^A step is written as ENCODER\.STEP, .*full_run\.$/);
    expect(await wrong('aacp', '--workflow', 'payroll.fetch_employees.x')).toMatch(/^A step is written as /);
    expect(await wrong('aacp', '--workflow')).toBe('Option --workflow requires a value.');
  });

  test('an option of the other protocol is reported with its command', async () => {
    expect(await wrong('accp', '--workflow', 'payroll.fetch_employees')).toBe(
      '--workflow does not apply to accp; it is an option of pegwire encode aacp.',
    );
    expect(await wrong('accp', '--english', 'x')).toBe(
      '--english does not apply to accp; it is an option of pegwire encode aacp.',
    );
    expect(await wrong('aacp', '--session', 'x.db')).toBe(
      '--session does not apply to aacp; it is an option of pegwire encode accp.',
    );
  });

  test.each([
    [['--workflow', 'payroll.fetch_employees', '--compat', 'sdkk'], /^--compat must be sdk/],
    [
      ['--workflow', 'payroll.fetch_employees', '--period', 'a', '--period', 'b'],
      /^--period must be given once; got it 2 times/,
    ],
    [['--workflow', 'cs_resolution.resolve_complaint', '--goodwill', 'maybe'], /^--goodwill must be true or false/],
    [['--compat', 'sdk', '--domain', 'HR'], /^--compat requires --workflow/],
    [[], /^encode aacp requires --workflow ENCODER\.STEP, or --english with --domain/],
  ] as const)('%j', async (args, expected) => {
    expect(await wrong('aacp', ...args)).toMatch(expected);
  });
});

test('as a program, it prints only packets to stdout', async () => {
  const stdin = lines('{"period":"2024-08"}', '{"period":"2024-09"}');
  const { code, stdout, stderr } = await program(['encode', 'aacp', '--workflow', 'payroll.fetch_budgets'], { stdin });
  const packets = ['2024-08', '2024-09'].map((period) => encodeStep('payroll', 'fetch_budgets', { period }).packet);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: lines(...packets), stderr: '' });
});

describe('aacp workflows', () => {
  test('lists all workflows', async () => {
    const { code, stdout } = await cli(['aacp', 'workflows']);
    expect(code).toBe(0);
    expect(stdout.match(/^\w+/gm)).toEqual(listWorkflows().map(({ alias }) => alias));
    const inJson = await cli(['aacp', 'workflows', '--json']);
    expect(jsonLines(inJson.stdout)).toEqual(JSON.parse(JSON.stringify(listWorkflows())));
  });

  test('shows the steps, inputs and packets of one workflow', async () => {
    const { stdout } = await cli(['aacp', 'workflows', 'payroll']);
    const { methods } = describeWorkflow(PayrollEncoder);
    for (const { name, inputs, example } of methods) {
      expect(stdout).toContain(`payroll.${name}: `);
      for (const input of inputs) expect(stdout).toContain(`--${input.name} `);
      for (const packet of example!.packets) expect(stdout).toContain(`-> ${packet}\n`);
    }
    const inJson = await cli(['aacp', 'workflows', 'PayrollEncoder', '--json']);
    expect(jsonLines(inJson.stdout)).toMatchObject([{ encoder: 'PayrollEncoder', alias: 'payroll' }]);
  });

  test('shows one step', async () => {
    const { stdout } = await cli(['aacp', 'workflows', 'it.provision_email']);
    expect(stdout).toMatch(/^it\.provision_email: .*\n {2}--email TEXT +the e-mail address \(required; personal: /);
    const inJson = await cli(['aacp', 'workflows', 'it.provision_email', '--json']);
    expect(jsonLines(inJson.stdout)).toMatchObject([{ encoder: 'ITEncoder', name: 'provision_email', kind: 'step' }]);
  });

  test.each([
    [['payrol'], 'Unknown workflow "payrol"; did you mean "payroll"?'],
    [['payroll.x'], 'Unknown step "x" of payroll; expected '],
    [['payroll', 'it'], 'aacp workflows takes one name; remove "it".'],
  ])('%j is wrong', async (words, expected) => {
    const { code, stdout, stderr } = await cli(['aacp', 'workflows', ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});
