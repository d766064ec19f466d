/** Keys and tokens of services, by the shapes that their makers gave them so that they can be found. */
import { type Detector, matches, type Sensitive } from './detector.js';

/**
 * Each pattern begins where no word character stands before, and has a beginning that nothing else has: so it is tried in few
 * places, and goes over what follows once.
 */
const SHAPES: readonly (readonly [kind: string, shape: RegExp])[] = [
  ['an AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ['a GitHub token', /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}/g],
  ['a GitHub token', /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,255}/g],
  ['a GitLab token', /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,255}/g],
  ['a Slack token', /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}/g],
  ['a Slack token', /(?<![A-Za-z0-9])xapp-[0-9]-[A-Za-z0-9-]{10,255}/g],
  ['a Slack webhook', /hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,255}/g],
  ['a Google API key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g],
  ['a Google token', /(?<![A-Za-z0-9])(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,512}/g],
  ['a Stripe key', /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,255}/g],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g],
  ['a Hugging Face token', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/g],
  ['a SendGrid key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g],
  ['a JSON Web Token', /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g],
  ['a private key', /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY/g],
];

/** Shapes that ordinary words have, too: a stretch of them has to look random. */
const LOOSE: readonly (readonly [kind: string, shape: RegExp])[] = [
  ['a secret key', /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,255}/g],
  ['a bearer token', /(?<![A-Za-z0-9])[Bb]earer[ :=_]{1,3}[A-Za-z0-9._~+/-]{16,512}/g],
];

export const findTokens: Detector = (value) => {
  const found: Sensitive[] = [];
  for (const [kind, shape] of SHAPES) found.push(...matches(value, shape, kind));
  for (const [kind, shape] of LOOSE) {
    found.push(...matches(value, shape, kind).filter(({ start, end }) => looksRandom(value.slice(start, end))));
  }
  return found;
};

/** Whether a stretch of 16 letters and digits has both: words are shorter, and numbers have no letters. */
function looksRandom(text: string): boolean {
  const stretches = text.match(/[A-Za-z0-9]{16,}/g) ?? [];
  return stretches.some((stretch) => /[0-9]/.test(stretch) && /[A-Za-z]/.test(stretch));
}
