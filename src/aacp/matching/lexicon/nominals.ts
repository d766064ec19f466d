/** Nouns that stand for an action, each with it: "a calculation of" asks to calculate. As they stand, not in base forms. */
export const NOMINALS = `
calculation calculate; computation calculate; comparison compare; analysis analyse; summary summarise; number count; count count;
tally count; draft draft; retrieval fetch; extraction fetch; export fetch; extract fetch; payment pay; settlement settle; refund refund; reimbursement refund;
cancellation cancel; deletion delete; removal remove; creation create; generation create; preparation create; production create;
escalation escalate; assignment assign; allocation assign; approval approve; rejection reject; review review; examination review;
reconciliation reconcile; notification notify; renewal renew; activation enable; deactivation disable; suspension suspend;
revocation revoke; registration log; booking schedule; scheduling schedule; validation check; verification check; check check;
termination terminate; extension extend; translation translate; merger merge; restoration restore; installation install;
submission submit; distribution send; dispatch send; update update; reset reset; restart restart; transfer transfer;
classification classify; categorisation classify; categorization classify; prioritisation prioritise; prioritization prioritise;
publication publish; archiving archive; closure close; reopening reopen; comparison compare; forecast forecast; estimate estimate;
estimation estimate; investigation investigate; assessment assess; evaluation assess; audit audit; conversion convert;
replacement replace; deployment deploy; consolidation merge; synchronisation sync; synchronization sync; breakdown break-down
`;

/** What "we" did, and what came of it: "what did we sell" asks for the sales. Names of classes or base forms. */
export const QUESTION_VERBS: ReadonlyMap<string, string> = new Map([
  ...([
    ['sell', 'sales'],
    ['sold', 'sales'],
    ['spend', 'spend'],
    ['spent', 'spend'],
    ['buy', 'purchase'],
    ['earn', 'revenue'],
  ] as const),
]);
