/** What comes back: shown, and counted. */
import { isUpkeep, readHead } from '../../../accp/bindings/frames.js';
import { explainFrame, tryParseFrame } from '../../../accp/index.js';
import type { Loss, Message } from '../../../accp/message/message.js';
import type { PegwireError } from '../../../text/errors.js';
import { visible } from '../../../text/visible.js';
import { exactJson } from '../../io/exact-json.js';
import { errorJson } from '../../io/json.js';
import type { Invocation } from '../../options/command.js';
import { lossText } from '../../session/notes.js';

const PROMPT = '> ';

type Receiving = Pick<Invocation, 'stdin' | 'words' | 'json' | 'output'> & {
  readonly options: { readonly all: boolean; readonly explain: boolean };
};

export class Received {
  readonly #invocation: Receiving;
  readonly #isInteractive: boolean;
  /** One after the other, whoever shows them. */
  #shown: Promise<void> = Promise.resolve();
  /** Error frames that came, frames and lines that were refused, and requests that were not answered. */
  faults = 0;
  /** Frames that came, whether they are shown or not; texts that are none are not among them. */
  frames = 0;

  constructor(invocation: Receiving) {
    this.#invocation = invocation;
    this.#isInteractive = invocation.stdin.isTTY === true && invocation.words.length < 2;
  }

  /**
   * @param message what the frame says, where that can be told
   * @param isOfSession whether there is a session here that sees to what keeps it going
   */
  frame(frame: string, message: Message | null, isOfSession: boolean): Promise<void> {
    const isFrame = readHead(frame) !== null;
    if (isFrame) this.frames++;
    const { options, json, output } = this.#invocation;
    if (isOfSession && message !== null && isUpkeep(message)) {
      if (!options.all) return this.#shown;
    } else if (message?.intent === 'fail' || message?.schema === 'ER') this.faults++;
    const explanation = options.explain ? explained(frame) : undefined;
    return this.#show(async () => {
      // What is no frame may hold anything, also what a terminal acts on.
      const shown = isFrame ? frame : visible(frame);
      await output.result(json ? exactJson({ frame, message, explanation }) : shown);
      if (!json && explanation !== undefined) await output.note(output.paintNote('dim', visible(explanation)));
    });
  }

  /** A request has got no answer. */
  unanswered(why: string): Promise<void> {
    this.faults++;
    return this.note('unanswered', why);
  }

  /** A frame that came is not taken. Those that only came too early or twice are seen to by the session. */
  refused({ code, message }: PegwireError): Promise<void> {
    if (code !== 'E3002' && code !== 'E3003') this.faults++;
    return this.note(code, `refused here: ${message}`);
  }

  /** A line went out otherwise than it stood there. */
  sent(frame: string): Promise<void> {
    const { json, output } = this.#invocation;
    return json ? this.#shown : this.#show(() => output.note(output.paintNote('dim', `sent: ${frame}`)));
  }

  note(code: string, text: string): Promise<void> {
    const { json, output } = this.#invocation;
    return this.#show(() => output.note(json ? errorJson(code, text) : visible(text)));
  }

  /** What goes out is not all that was outgoing. */
  async lost(losses: readonly Loss[]): Promise<void> {
    for (const loss of losses) await this.note(loss.kind, lossText(loss));
  }

  /** Resolves when all that came has been shown. */
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
