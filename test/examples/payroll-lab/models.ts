/** The models of the agents: deterministic stand-ins, or a model of a provider if its key is set. */
import process from 'node:process';
import type { ModelReply, ProviderModel } from '../../../src/aacp/models/index.js';
import { anthropicModel, openaiModel } from '../../../src/aacp/models/index.js';
import type { TokenCounter } from '../../../src/tokens/index.js';

/** Assumed prices in US dollars per million tokens. */
export interface Prices {
  readonly note: string;
  readonly asOf: string;
  readonly models: Readonly<Record<string, { readonly input: number; readonly output: number }>>;
}

/** A question of an agent, with the answer that a stand-in gives. */
export interface Question {
  readonly system: string;
  readonly prompt: string;
  readonly standIn: () => unknown;
}

/** An answer, with its tokens. */
export interface Answer {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The model of an agent. */
export interface AgentModel {
  /** The name of the model; `null` for the stand-in. */
  readonly name: string | null;
  /** The origin of the token counts. */
  readonly counted: string;
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
}

const MAX_TOKENS = 4096;

/** Chooses the model: OpenAI or Anthropic if the environment has a key, otherwise the stand-in. @param name the model, instead of the default */
export function chooseModel(counter: TokenCounter, name?: string): AgentModel {
  const { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic } = process.env;
  // The agents ask for JSON of their own, not for packets, so no constraint applies.
  if (openai) {
    const model = name ?? 'gpt-4.1-mini';
    return providerModel(model, openaiModel({ model, apiKey: openai, constrain: 'none' }), counter);
  }
  if (anthropic) {
    const model = name ?? 'claude-sonnet-4-5';
    return providerModel(model, anthropicModel({ model, apiKey: anthropic, constrain: 'none' }), counter);
  }
  return {
    name: null,
    counted: counter.exact ? `counted with ${counter.encoding}` : 'estimated',
    async ask({ system, prompt, standIn }) {
      const text = JSON.stringify(standIn());
      return { text, inputTokens: counter.count(`${system}\n\n${prompt}`), outputTokens: counter.count(text) };
    },
  };
}

function providerModel(name: string, model: ProviderModel, counter: TokenCounter): AgentModel {
  return {
    name,
    counted: 'reported by the provider',
    async ask({ system, prompt }, signal) {
      const { text, usage }: ModelReply = await model({
        ...{ system, prompt, signal, maxTokens: MAX_TOKENS, repair: null },
        // The members below describe an instruction to encode, which the lab does not have.
        ...{ instruction: prompt, domain: 'HR', returnAgent: 'HR-Agent', priority: '2' },
        grammar: () => Promise.reject(new Error('the lab constrains no output')),
      });
      return {
        text,
        inputTokens: usage?.inputTokens ?? counter.count(`${system}\n\n${prompt}`),
        outputTokens: usage?.outputTokens ?? counter.count(text),
      };
    },
  };
}

/** Reads the JSON object in a reply, which may stand in a fence or in prose; `null` if there is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return null;
  }
}
