/** Rules for customer services; see ../bundled.ts for the form. */
export const CS_RULES = `
cs-fetch-customer: Fetch a customer profile
  about History, lifetime value, loyalty, open tickets and mood of a customer.
  packet FETCH|CS|return:CS-Agent|p:1|aacp:1.1|res:customer_profile|filter:id={customer}|fields:history,ltv,loyalty,open_tickets,sentiment|fmt:json
  tags customer, profile, history, loyalty
  phrase fetch the profile of customer {customer:id}
  phrase get the customer profile for {customer:id} with history, LTV, loyalty, open tickets and sentiment
  phrase retrieve the full customer profile of customer {customer:id} as JSON
  step CSResolutionEncoder.fetch_customer customer_id={customer}
cs-triage-complaint: Triage a complaint
  about Sorts a complaint and says how upset the customer is and how urgent it is.
  packet PROC|CS|return:CS-Agent|p:1|aacp:1.1|res:ticket_triage|filter:id={ticket}
  tags complaint, ticket, triage, sentiment
  phrase triage the complaint in ticket {ticket:id}
  phrase triage the customer complaint in ticket {ticket:id}
cs-triage-ticket: Triage a ticket
  about Puts a ticket into a category, and scores sentiment and priority.
  packet PROC|CS|return:CS-Agent|p:1|aacp:1.1|res:ticket_triage|filter:id={ticket}|req:categorise,sentiment_score,priority_score
  tags complaint, ticket, triage, sentiment
  phrase triage ticket {ticket:id}: categorise it and score sentiment and priority
  phrase triage complaint {ticket:id}: categorise it and score sentiment and priority
  step CSResolutionEncoder.triage_complaint ticket_id={ticket}
cs-resolve-complaint: Resolve a complaint
  about Settles a complaint of a customer.
  packet RESOLVE|CS|return:CS-Agent|p:1|aacp:1.1|res:complaint|filter:id={ticket}|req:resolve
  tags complaint, customer, ticket, resolution
  phrase resolve the customer complaint in ticket {ticket:id}
  phrase resolve complaint {ticket:id}
  phrase resolve the complaint in ticket {ticket:id}
cs-resolve-complaint-with-empathy: Resolve the complaint of an upset customer
  about Settles a complaint of a customer who is upset, with an empathetic answer.
  packet RESOLVE|CS|return:CS-Agent|p:1|aacp:1.1|res:complaint|filter:id={ticket}|req:resolve|sentiment:negative|tone:empathetic
  tags complaint, customer, upset, empathetic, tone
  phrase resolve complaint {ticket:id} of an upset customer with an empathetic tone
  phrase resolve the complaint in ticket {ticket:id}, the customer is upset, use an empathetic tone
  phrase resolve the complaint in ticket {ticket:id} with negative sentiment in an empathetic tone
  step CSResolutionEncoder.resolve_complaint ticket_id={ticket} sentiment=negative tone=empathetic
cs-send-resolution: Send a resolution
  about Tells a customer, with empathy, how a complaint was resolved.
  packet SEND|CS|return:CS-Agent|p:1|aacp:1.1|to:{customer}|subj:resolution_{ticket}|flag_msg:resolution_sent|tone:empathetic
  tags complaint, resolution, customer, reply
  phrase send customer {customer:id} the resolution of ticket {ticket:id} in an empathetic tone
  phrase send the resolution of ticket {ticket:id} to customer {customer:id} in an empathetic tone
  step CSResolutionEncoder.send_resolution ticket_id={ticket} customer_id={customer}
cs-log-resolution: Log a resolution
  about The audit record that a ticket was resolved.
  packet LOG|CS|return:AUD-Agent|p:3|aacp:1.1|res:resolution|filter:id={ticket}|status:resolved
  tags resolution, ticket, audit
  phrase log ticket {ticket:id} as resolved
  phrase log to the audit trail that ticket {ticket:id} is resolved
cs-fetch-open-tickets: Fetch open tickets
  about What a customer still waits for.
  packet FETCH|CS|return:CS-Agent|p:2|aacp:1.1|res:tickets|filter:status=open,customer={customer}
  tags tickets, open, support, queue
  phrase fetch all open tickets of customer {customer:id}
  phrase list the open support tickets for customer {customer:id}
cs-flag-escalation: Escalate a ticket
  about Passes a ticket on to a manager.
  packet FLAG|CS|return:CS-Agent|p:1|aacp:1.1|res:ticket|filter:id={ticket}|to:manager
  tags ticket, escalation, manager
  phrase escalate ticket {ticket:id} to a manager
  phrase escalate the ticket {ticket:id} to the manager
cs-flag-manager-review: Have a manager review a ticket
  about Has a manager look at a ticket.
  packet FLAG|CS|return:CS-Agent|p:1|aacp:1.1|res:ticket|filter:id={ticket}|req:manager_review
  tags ticket, escalation, manager
  phrase flag ticket {ticket:id} for review by a manager
  phrase flag the ticket {ticket:id} for a manager review
cs-calculate-satisfaction: Calculate customer satisfaction
  about The CSAT score of a month.
  packet CALC|CS|return:CS-Agent|p:2|aacp:1.1|res:csat_score|period:{period}
  tags csat, satisfaction, score, survey
  phrase calculate the CSAT score for {period}
  phrase compute the customer satisfaction score for {period}
cs-report-tickets: Ticket volume report
  about How many tickets came and were resolved in a month.
  packet REPORT|CS|return:CS-Agent|p:3|aacp:1.1|res:ticket_volume|period:{period}
  tags tickets, volume, support, monthly
  phrase generate the ticket volume report for {period}
  phrase report on support ticket volume for {period}
cs-merge-tickets: Merge duplicate tickets
  about Makes one ticket of several about the same matter.
  packet MERGE|CS|return:CS-Agent|p:3|aacp:1.1|res:tickets|src:{tickets}|issue:duplicate
  tags tickets, duplicates
  phrase merge the duplicate tickets {tickets:list}
  phrase merge tickets {tickets:list} as duplicates
`;
