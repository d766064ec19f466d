/** People who come and go, said with a verb: "people who left us" are leavers. */

const PEOPLE = ['people', 'person', 'employee', 'staff', 'colleague', 'worker', 'team member'];
const LINKS = ['', 'who ', 'that ', 'have ', 'who have ', 'that have ', 'has ', 'who has '];
const PLACES = ['', ' us', ' the company', ' the business', ' the firm', ' the organisation'];

/** Phrases by the name of their class. */
export const MOVERS: readonly (readonly [noun: string, phrases: readonly string[]])[] = [
  ['leaver', phrasesWith(['left', 'leave', 'resigned', 'quit'])],
  ['new-hire', phrasesWith(['joined', 'join'])],
];

function phrasesWith(verbs: readonly string[]): readonly string[] {
  return verbs.flatMap((verb) =>
    PEOPLE.flatMap((who) => LINKS.flatMap((link) => PLACES.map((place) => `${who} ${link}${verb}${place}`))),
  );
}
