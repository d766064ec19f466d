/** Ordinary words of business English, which are not names even in capital letters. */

const DETERMINERS = wordSet(`
a an the this that these those its their our your my his her all any each every some no which whose them it
`);

/** Prepositions, pronouns, auxiliaries and similar words. */
const FUNCTION_WORDS = wordSet(`
about above across after again against ahead along alone also although am among and apart are as aside at based be because been before
behind being below beneath between beyond both but by can cannot could did do does down due during either else except excluding exclude
few first for from had has have he here how however i if in incl include includes including instead into is last latest least less like
may me might mine more most must named near neither never next none nor not now of off on once only onto or other ours out over own past
per please prior quickly rather same several shall she should since so still such than then there they through throughout till to together
too toward towards under unless until up upon us using versus via was we were what when whenever where whether while who whom why will
with within without would yet you yours
`);

/** Nouns, verbs and adjectives that are capitalised in titles and forms. */
const ORDINARY = wordSet(`
absence access account accountant accounting acknowledge action active activity add address adjust agent agreement allocate amend amount
analyse analysis analyst annual appendix applicant application apply appoint approval approve archive article asset assign assistant audit
auditor backup balance bank bill block board bonus book branch brand briefing budget build business calculate call campaign cancel candidate
case cash category chair change charge check claim clause client close closed collect column committee company compare complaint complete
compliance confirm consultant contact contract contractor convert copy cost count create credit currency current customer daily data
database date day debit decline delete deliver delivery department deploy desk detail device director disable discount division document
domain download draft due duplicate email employee enable end engineer escalate estimate event executive expense export extend external
fee feedback fetch field figure file final finance financial find fix flag folder forecast form format forward full fund generate get grant
group guide handle head headcount help hold holiday host house import incident income increase inform information installation instruction
insurance interest internal interview inventory invite invoice issue item job join journal key label laptop law lead learn lease leave ledger
legal letter licence license limit link list loan local location lock log login loss mail mailbox make manage management manager map margin
marketing match matter meeting member merge message minutes month monthly move name network new newsletter note notice notify number offer
office officer onboarding open opportunity order other outstanding overdue owner page paid partner password pay payment payroll payslip
pending pension performance period permission person personnel phase plan policy post prepare president price print prioritise priority
process procurement produce product profile profit programme project promote property provide publish purchase quarter quarterly query
question quote raise rate receipt receive reconcile reconciliation record recruitment reduce reference refund region register regulation reject
release remind remove renew renewal rent repair replace reply report request reset resolve resource response restart restore result
retrieve return revenue review revoke risk role run salary sale sales schedule search secretary section security segment send senior server
service set share ship shipment show sign site software specialist staff standard start statement status step stock stop store subject
submit subscription summarise summary supplier support survey suspend switch system table target task tax team template term terminate
terms test text ticket time timesheet title total track trade training transaction transfer travel trigger unit unpaid update upgrade
upload urgent user validate value vendor verify version view visit void warehouse warranty website week weekly word work year
valid invalid whole new old good bad high low long short small big large quick public private primary secondary critical medium available
empty latest oldest approved general special regular normal usual existing required recent ready main
csv json pdf xml html excel asap eod urgent important fyi nb todo
`);

/** Words that are also names: of people, months, companies. */
const NAMES = wordSet(`
  may march april june august will bill mark grant sue rob jack frank pat drew chase hope grace faith joy rose page price case miles art
  target summer hunter mason baker taylor christian dean earl guy max mike nick norm ray rich stone visa delta apple orange shell gap
  main master trunk head
`);

/** Makes a set of the words of a list, which are separated by white space. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

/** Returns whether a word is a determiner. @param small the word in lower case */
export function isDeterminer(small: string): boolean {
  return DETERMINERS.has(small);
}

/** Returns whether a word is a function word. @param small the word in lower case */
export function isFunctionWord(small: string): boolean {
  return DETERMINERS.has(small) || FUNCTION_WORDS.has(small);
}

/** Returns whether a word, or its base form, is ordinary and not also a name. @param small the word in lower case */
export function isFamiliar(small: string): boolean {
  if (NAMES.has(small)) return false;
  if (isFunctionWord(small) || ORDINARY.has(small)) return true;
  const [, stem, ending] = /^(\p{L}{3,}?)(s|es|d|ed|ing|ies)$/u.exec(small) ?? [];
  if (stem === undefined) return false;
  return ORDINARY.has(stem) || ORDINARY.has(`${stem}${ending === 'ies' ? 'y' : 'e'}`);
}
