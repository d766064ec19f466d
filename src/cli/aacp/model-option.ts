/** `--model`, `--key-variable` and `--price`. */
import process from 'node:process';
import {
  anthropicModel,
  type Model,
  type ModelNotice,
  openaiCompatibleModel,
  openaiModel,
  type ProviderPrice,
} from '../../aacp/models/index.js';
import { didYouMean, type Invocation, UsageError } from '../options/command.js';

const FORMS = 'anthropic:NAME, openai:NAME, or URL#NAME such as http://127.0.0.1:8080/v1#local';

/** @throws UsageError on a model, a key or a price that is none */
export function modelOf({ options }: Invocation, onNotice: (notice: ModelNotice) => void): Model | null {
  const given = options['model'];
  const alien = ['key-variable', 'price'].find((option) => options[option] !== undefined);
  if (typeof given !== 'string') {
    if (alien !== undefined) throw new UsageError(`--${alien} goes with --model`);
    return null;
  }
  const shared = { price: priceOf(options['price']), onNotice, apiKey: keyOf(options['key-variable']) };
  const [, provider, name] = /^([a-z]+):([^/].*)$/i.exec(given) ?? [];
  if (provider === 'anthropic') return anthropicModel({ ...shared, model: name! });
  if (provider === 'openai') return openaiModel({ ...shared, model: name! });
  const mark = given.lastIndexOf('#');
  const baseUrl = given.slice(0, Math.max(0, mark));
  const model = given.slice(mark + 1);
  if (model !== '' && isServer(baseUrl)) return openaiCompatibleModel({ ...shared, baseUrl, model });
  const near = provider === undefined ? '' : didYouMean(provider, ['anthropic', 'openai']);
  throw new UsageError(`--model is ${FORMS}; not "${withoutPassword(given)}"${near}`);
}

function isServer(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** An address may hold a password. */
function withoutPassword(given: string): string {
  return given.replace(/\/\/[^/]*@/, '//');
}

function priceOf(given: string | boolean | undefined): ProviderPrice | undefined {
  if (given === undefined) return undefined;
  const [, input, output] = /^([0-9.]+),([0-9.]+)$/.exec(String(given)) ?? [];
  if (Number.isFinite(Number(input)) && Number.isFinite(Number(output)))
    return { input: Number(input), output: Number(output) };
  throw new UsageError(`--price is two amounts of US dollars per million tokens, such as 3,15; not "${String(given)}"`);
}

function keyOf(variable: string | boolean | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const key = process.env[String(variable)];
  if (key !== undefined && key !== '') return key;
  throw new UsageError(`--key-variable: the environment has no ${String(variable)}`);
}
