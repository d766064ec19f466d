/** Rules for sales; see ../bundled.ts for the form. */
export const SALES_RULES = `
sales-fetch-lead: Fetch a lead
  about The profile of a lead by its number.
  packet FETCH|SALES|return:SALES-Agent|p:1|aacp:1.1|res:lead_profile|filter:id={lead}|fmt:json
  tags lead, profile, qualification
  phrase fetch the profile of lead {lead:id}
  phrase get the lead profile for {lead:id} as JSON
  step SalesEncoder.fetch_lead lead_id={lead}
sales-score-lead-bant: Score a lead by BANT
  about Rates a lead by budget, authority, need and timeline.
  packet CALC|SALES|return:SALES-Agent|p:1|aacp:1.1|res:lead_score|filter:id={lead}|rules:bant
  tags lead, score, bant, qualification
  phrase score lead {lead:id} with the BANT framework
  phrase calculate the BANT score of lead {lead:id}
  phrase score lead {lead:id} using BANT
  step SalesEncoder.score_lead lead_id={lead} framework=BANT
sales-score-lead-meddic: Score a lead by MEDDIC
  about Rates a lead by metrics, buyer, criteria, process, pain and champion.
  packet CALC|SALES|return:SALES-Agent|p:1|aacp:1.1|res:lead_score|filter:id={lead}|rules:meddic
  tags lead, score, meddic, qualification
  phrase score lead {lead:id} with the MEDDIC framework
  phrase calculate the MEDDIC score of lead {lead:id}
  step SalesEncoder.score_lead lead_id={lead} framework=MEDDIC
sales-route-lead: Route a lead
  about Hands a lead to somebody when its score reaches a threshold.
  packet PROC|SALES|return:SALES-Agent|p:2|aacp:1.1|res:lead_routing|filter:id={lead}|validate:score>={threshold}
  tags lead, routing, assignment, threshold
  phrase route lead {lead:id} with a score threshold of {threshold:number}
  phrase route lead {lead:id} if its score is at least {threshold:number}
  step SalesEncoder.route_lead lead_id={lead} score_threshold={threshold}
sales-log-qualification: Log a qualified lead
  about The audit record that a lead was qualified.
  packet LOG|SALES|return:AUD-Agent|p:3|aacp:1.1|res:qualification|filter:id={lead}|status:qualified
  tags lead, qualification, audit
  phrase log lead {lead:id} as qualified
  phrase log to the audit trail that lead {lead:id} is qualified
sales-notify-rep: Notify the sales rep
  about Tells the sales representative that a qualified lead waits.
  packet SEND|SALES|return:SALES-Agent|p:1|aacp:1.1|highlight:ACTION_REQUIRED|to:sales_rep|subj:qualified_lead_{lead}
  tags lead, notification, sales-rep, hand-over
  phrase notify the sales rep that lead {lead:id} is qualified and action is required
  phrase send the sales rep a notification about qualified lead {lead:id}, action required
  step SalesEncoder.notify_rep lead_id={lead}
sales-fetch-pipeline: Fetch the sales pipeline
  about Open deals by stage for a quarter.
  packet FETCH|SALES|return:SALES-Agent|p:2|aacp:1.1|res:pipeline|period:{quarter}|filter:status=open
  tags pipeline, deals, opportunities, quarterly
  phrase fetch the open sales pipeline for {quarter}
  phrase get all open deals in the pipeline for {quarter}
sales-fetch-renewals: Fetch renewals that come due
  about Customers whose subscription ends within a number of days.
  packet FETCH|SALES|return:SALES-Agent|p:2|aacp:1.1|res:renewals|filter:due_days<={days}
  tags renewals, subscriptions, expiry, accounts
  phrase list all renewals due in the next {days:number} days
  phrase fetch the renewals that come due within {days:number} days
sales-calculate-forecast: Calculate the sales forecast
  about What the pipeline is expected to bring in a quarter.
  packet CALC|SALES|return:SALES-Agent|p:2|aacp:1.1|res:sales_forecast|period:{quarter}
  tags forecast, revenue, pipeline, quarterly
  phrase calculate the sales forecast for {quarter}
  phrase compute the {quarter} revenue forecast for sales
sales-calculate-commission: Calculate commission
  about What a sales representative has earned in a month.
  packet CALC|SALES|return:SALES-Agent|p:2|aacp:1.1|res:commission|period:{period}|filter:id={employee}
  tags commission, compensation, sales-rep
  phrase calculate the commission of sales rep {employee:id} for {period}
  phrase work out the {period} commission for sales rep {employee:id}
sales-build-quote: Build a quote
  about An offer to a customer over an amount.
  packet BUILD|SALES|return:SALES-Agent|p:2|aacp:1.1|res:quote|amt:{amount.value}|ccy:{amount.currency}|party:{customer}
  tags quote, offer, proposal, customer
  phrase create a quote for {customer:name} over {amount}
  phrase prepare a quote of {amount} for {customer:name}
sales-flag-stalled-deals: Flag stalled deals
  about Deals that nobody has worked on for a number of days.
  packet FLAG|SALES|return:SALES-Agent|p:2|aacp:1.1|res:deals|filter:inactive_days>{days}|issue:stalled
  tags deals, stalled, pipeline, inactivity
  phrase flag all deals without activity for more than {days:number} days as stalled
  phrase flag deals as stalled that have had no activity for more than {days:number} days
`;
