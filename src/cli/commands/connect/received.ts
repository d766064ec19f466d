/** Shows and counts what comes back. */
import { isUpkeep, readHead } from '../../../accp/bindings/frames.js';
import { explainFrame, tryParseFrame } from '../../../accp/index.js';
import type { Loss, Message } from '../../../accp/message/message.js';
import type { PegwireError } from '../../../text/errors.js';
import { visible } from '../../../text/visible.js';
import { exactJson } from '../../io/exact-json.js';
import { errorJson } from '../../io/json.js';
import type { Invocation } from '../../options/command.js';
import { lossText } from '../../session/results.js';

const PROMPT = '> ';

type Receiving = Pick<Invocation, 'stdin' | 'words' | 'json' | 'output'> & {
  readonly options: { readonly all: boolean; readonly explain: boolean };
};

export class Received {
  readonly #invocation: Receiving;
  readonly #isInteractive: boolean;
  /** Serializes the output. */
  #shown: Promise<void> = Promise.resolve();
  /** Error frames, rejected frames and lines, and unanswered requests. */
  faults = 0;
  /** Frames received, shown or not. */
  frames = 0;

  constructor(invocation: Receiving) {
    this.#invocation = invocation;
    this.#isInteractive = invocation.stdin.isTTY === true && invocation.words.length < 2;
  }

  /** @param isOfSession whether a session here handles upkeep, such as registries and pings */
  frame(frame: string, message: Message | null, isOfSession: boolean): Promise<void> {
    const isFrame = readHead(frame) !== null;
    if (isFrame) this.frames++;
    const { options, json, output } = this.#invocation;
    if (isOfSession && message !== null && isUpkeep(message)) {
      if (!options.all) return this.#shown;
    } else if (message?.intent === 'fail' || message?.schema === 'ER') this.faults++;
    const explanation = options.explain ? explained(frame) : undefined;
    return this.#show(async () => {
      // Other text may hold control characters.
      const shown = isFrame ? frame : visible(frame);
      await output.result(json ? exactJson({ frame, message, explanation }) : shown);
      if (!json && explanation !== undefined) await output.note(output.paintNote('dim', visible(explanation)));
    });
  }

  unanswered(why: string): Promise<void> {
    this.faults++;
    return this.note('unanswered', why);
  }

  /** Reports a rejected frame. E3002 and E3003, for early and repeated frames, are handled by the session. */
  refused({ code, message }: PegwireError): Promise<void> {
    if (code !== 'E3002' && code !== 'E3003') this.faults++;
    return this.note(code, `refused here: ${message}`);
  }

  sent(frame: string): Promise<void> {
    const { json, output } = this.#invocation;
    return json ? this.#shown : this.#show(() => output.note(output.paintNote('dim', `sent: ${frame}`)));
  }

  note(code: string, text: string): Promise<void> {
    const { json, output } = this.#invocation;
    return this.#show(() => output.note(json ? errorJson(code, text) : visible(text)));
  }

  async lost(losses: readonly Loss[]): Promise<void> {
    for (const loss of losses) await this.note(loss.kind, lossText(loss));
  }

  settled(): Promise<void> {
    return this.#shown;
  }

  prompt(): void {
    if (this.#isInteractive) this.#invocation.output.progress(PROMPT);
  }

  #show(write: () => Promise<void>): Promise<void> {
    this.#shown = this.#shown.then(async () => {
      if (this.#isInteractive) this.#invocation.output.progress('');
      await write();
      this.prompt();
    });
    return this.#shown;
  }
}

function explained(frame: string): string | undefined {
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  return parsed.ok ? explainFrame(parsed.value) : undefined;
}
