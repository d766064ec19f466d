/** The tab of AACP packets, with the workflow encoders as forms. */
import { aacp } from 'virtual:modes';
import type { Profile } from '../../aacp/codes.js';
import type { StepForm, WorkflowList } from '../analysis/encoders.js';
import { packetCompletions } from './completions.js';
import { h, select } from './dom.js';
import { createMessageTab } from './message-tab.js';
import { type Context, type CreateTab, errorPage } from './tab.js';

export const createTab: CreateTab = (context) =>
  createMessageTab(context, {
    tab: 'aacp',
    noun: 'packet',
    mode: aacp,
    choiceLabel: 'Profile',
    choices: [
      ['draft', 'draft'],
      ['interop', 'interop'],
    ],
    breaks: [
      (text) => text.replace(/^([A-Z])([A-Z])/, '$1'),
      (text) => text.replace(/\|return:[^|]*/, ''),
      (text) => `${text}||`,
      (text) => text.replace(/\|p:[^|]*/, '|p:9'),
    ],
    completions: packetCompletions,
    analyze: ({ client }, text, position, choice) =>
      client.run('packets', { text, position, profile: choice as Profile }),
    docs: (code) => errorPage('validator-codes', code),
    extra: encoderForm,
  });

/** A form for each step of a workflow. Its packets replace the text of the editor. */
function encoderForm({ client }: Context, use: (text: string) => void): HTMLElement {
  const details = h('details', { class: 'card encoders' }, h('summary', {}, 'Fill in a form instead'));
  const body = h('div');
  details.append(body);
  details.addEventListener('toggle', () => {
    if (!details.open || body.childElementCount > 0) return;
    client.run('workflows', null).then(
      (list) => body.replaceChildren(formOf(client, list, use)),
      (thrown: Error) => body.replaceChildren(h('p', { class: 'error' }, thrown.message)),
    );
  });
  return details;
}

function formOf(client: Context['client'], list: WorkflowList, use: (text: string) => void): HTMLElement {
  const fields = h('div', { class: 'fields' });
  const summary = h('p', { class: 'hint' });
  const note = h('p', { role: 'status', class: 'notes' });
  const workflow = select(
    'Workflow',
    list.map(({ encoder }) => [encoder, encoder.replace(/Encoder$/, '')] as const),
    showSteps,
  );
  const step = select('Step', [], showFields);
  const form = h(
    'form',
    { submit: encode },
    h('div', { class: 'toolbar' }, workflow.element, step.element),
    summary,
    fields,
    h('button', { class: 'primary' }, 'Encode'),
    note,
  );

  function stepOf(): StepForm {
    const steps = list.find(({ encoder }) => encoder === workflow.input.value)!.steps;
    return steps.find(({ name }) => name === step.input.value) ?? steps[0]!;
  }

  function showSteps(): void {
    const { steps } = list.find(({ encoder }) => encoder === workflow.input.value)!;
    step.input.replaceChildren(...steps.map(({ name }) => h('option', { value: name }, name)));
    showFields();
  }

  function showFields(): void {
    const { inputs, summary: purpose } = stepOf();
    summary.textContent = purpose;
    fields.replaceChildren(
      ...inputs.map(({ name, description, required, type, default: value, example }) => {
        const id = `input-${name}`;
        const hint = [
          description,
          type === 'list' ? 'separated by commas' : '',
          value === null ? '' : `default: ${value}`,
        ]
          .filter(Boolean)
          .join('; ');
        const input = h('input', {
          id,
          name,
          value: required && example !== null ? String(example) : '',
          placeholder: example === null ? '' : String(example),
          'aria-describedby': `${id}-hint`,
        });
        return h(
          'div',
          { class: 'field' },
          h('label', { for: id }, required ? `${name} *` : name),
          input,
          h('span', { class: 'hint', id: `${id}-hint` }, hint),
        );
      }),
    );
    note.textContent = '';
  }

  function encode(event: Event): void {
    event.preventDefault();
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    client.run('encode', { encoder: workflow.input.value, step: stepOf().name, values }).then(
      (output) => {
        if ('error' in output)
          note.textContent = [`${output.code}: ${output.error}`, output.help].filter(Boolean).join(' Help: ');
        else {
          use(output.packets.join('\n'));
          note.textContent = output.notes.join(' ') || 'The packet is in the editor.';
        }
        note.classList.toggle('error', 'error' in output);
      },
      (thrown: Error) => {
        note.textContent = thrown.message;
      },
    );
  }

  showSteps();
  return form;
}
