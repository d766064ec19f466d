/** Rules for legal; see ../bundled.ts for the form. */
export const LEGAL_RULES = `
legal-review-nda: Review an NDA
  about Has an agreement on confidentiality reviewed.
  packet FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}
  tags nda, contract, review, confidentiality
  phrase flag the NDA with {party:name} for legal review
  phrase request a legal review of the NDA with {party:name}
legal-review-nda-clauses: Review an NDA clause by clause
  about Has an agreement on confidentiality reviewed clause by clause, with its risk and a recommendation.
  packet FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|req:clause_review,risk_assess,sign_recommend
  tags nda, contract, review, confidentiality
  phrase flag the NDA with {party:name} for a clause review, a risk assessment and a signing recommendation
  phrase flag the NDA with {party:name} for clause review, risk assessment and a recommendation on signing
legal-review-nda-with-risk: Review an NDA of a known risk
  about As the review of an NDA, where somebody has already said how risky it looks.
  packet FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|risk:{risk}
  tags nda, contract, review, risk
  phrase flag the NDA with {party:name} for legal review, risk level {risk:text}
  phrase request a legal review of the NDA with {party:name} at risk level {risk:text}
legal-review-contract: Review a contract
  about Has a contract of medium risk reviewed before it is signed.
  packet FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:CONTRACT|party:{party}|risk:medium
  tags contract, review, risk, clauses, legal
  phrase review the contract with {party:name}, medium risk
  phrase flag the medium-risk contract with {party:name} for legal review
  phrase request a legal review of the contract with {party:name}, risk level medium
legal-flag-clause: Flag a clause
  about Stops the signature of an NDA for a clause of high risk, and asks for a senior review.
  packet FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:{party}|clause:{clause}|issue:{issue}|risk:high|block:signature|req:senior_review
  tags clause, nda, contract, risk, signature
  phrase flag clause {clause:text} of the NDA with {party:name} as high risk for {issue:text} and block the signature pending senior review
  phrase flag clause {clause:text} in the {party:name} NDA as high risk, issue {issue:text}, block the signature and request a senior review
  step ContractEncoder.flag_clause contract_type=NDA party={party} clause_ref={clause} issue={issue}
legal-log-review: Log a contract review
  about The audit record of a review, with its risk and its recommendation.
  packet LOG|LEGAL|return:AUD-Agent|p:2|aacp:1.1|type:NDA|party:{party}|risk:{risk}|status:{recommendation}
  tags nda, contract, review, audit, recommendation
  phrase log the review of the NDA with {party:name} with risk {risk:text} and recommendation {recommendation:text}
  phrase log the NDA review for {party:name}: risk {risk:text}, recommendation {recommendation:text}
legal-fetch-expiring-contracts: Fetch contracts that expire
  about Contracts that end within a number of days, so that renewal or notice is not missed.
  packet FETCH|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contracts|filter:expiry_days<={days}
  tags contracts, expiry, renewal, notice
  phrase fetch all contracts that expire within {days:number} days
  phrase list the contracts expiring in the next {days:number} days
legal-fetch-contract: Fetch a contract
  about One contract by its number.
  packet FETCH|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contract|filter:id={contract}
  tags contract, document
  phrase fetch contract {contract:id}
  phrase retrieve the contract {contract:id}
legal-process-access-request: Process a data subject access request
  about Handles what somebody asked for under data protection law.
  packet PROC|LEGAL|return:LEG-Agent|p:1|aacp:1.1|res:dsar|filter:id={request}
  tags dsar, gdpr, privacy, data-protection
  phrase process data subject access request {request:id}
  phrase handle DSAR {request:id}
legal-send-for-signature: Send a contract for signature
  about Puts a contract before the other side to sign.
  packet SEND|LEGAL|return:LEG-Agent|p:2|aacp:1.1|res:contract|filter:id={contract}|req:signature|to:{party}
  tags contract, signature, e-signature
  phrase send contract {contract:id} to {party:name} for signature
  phrase send {party:name} the contract {contract:id} to sign
`;
