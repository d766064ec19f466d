/** Rules for finance; see ../bundled.ts for the form. */
export const FIN_RULES = `
fin-fetch-budgets: Fetch budget allocations
  about Approved budgets and year-to-date spend of the cost centres for a month.
  packet FETCH|FIN|return:FIN-Agent|p:1|aacp:1.1|res:budget_cc|period:{period}|fields:cc_id,approved_budget,ytd_spend|fmt:json
  tags budget, cost-centre, allocation, ytd, spend
  phrase fetch the budget allocations by cost centre for {period}
  phrase provide the budget allocations by cost centre for {period}, including year-to-date spend
  phrase get the approved budgets and year-to-date spend by cost centre for {period}
  step PayrollEncoder.fetch_budgets period={period}
fin-process-invoice: Process a supplier invoice
  about Matches an invoice with its purchase order, on the payment terms that are given.
  packet PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|match:{order}|terms:net{days}
  tags invoice, supplier, payment, purchase-order, terms
  phrase process the invoice from {supplier:name} for {amount} against purchase order {order:id} on net {days:number} terms
  phrase process the supplier invoice from {supplier:name} for {amount}, match it to {order:id}, payment terms net {days:number}
fin-process-invoice-for-order: Process an invoice against a purchase order
  about Validates an invoice against its purchase order, on the terms that finance has on file.
  packet PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|match:{order}
  tags invoice, supplier, purchase-order
  phrase process the invoice from {supplier:name} for {amount} against purchase order {order:id}
  phrase process the supplier invoice from {supplier:name} for {amount} and match it to {order:id}
fin-match-invoice: Three-way match of an invoice
  about Compares an invoice with its purchase order and the goods received.
  packet PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|filter:inv={invoice}|match:{order}|validate:goods_receipt
  tags three-way-match, invoice, purchase-order, goods-receipt
  phrase run a three-way match of invoice {invoice:id} against purchase order {order:id} and the goods receipt
  phrase process the three-way match for invoice {invoice:id}, purchase order {order:id} and the goods receipt
fin-schedule-payment: Schedule a payment
  about Schedules and confirms a bank transfer to a supplier.
  packet PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:bank_transfer|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|terms:net{days}|req:schedule,confirm
  tags payment, bank-transfer, supplier, terms
  phrase schedule and confirm a bank transfer of {amount} to supplier {supplier:name}, terms net {days:number}
  phrase schedule and confirm a payment of {amount} to {supplier:name} on net {days:number} terms
  step InvoiceEncoder.schedule_payment supplier={supplier} amount={amount.value} currency={amount.currency} terms=net{days}
fin-log-invoice: Log a processed invoice
  about The audit record of an invoice that went through without errors.
  packet LOG|FIN|return:AUD-Agent|p:3|aacp:1.1|filter:inv={invoice}|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}|status:ok
  tags invoice, audit, audit-trail, processed
  phrase log that invoice {invoice:id} from {supplier:name} for {amount} was processed with status ok
  phrase log invoice {invoice:id} from {supplier:name} for {amount} to the audit trail as ok
fin-fetch-trial-balance: Fetch the trial balance
  about Balances of all accounts at the end of a month: the first step of the close.
  packet FETCH|FIN|return:FIN-Agent|p:1|aacp:1.1|res:trial_balance|period:{period}|fmt:json
  tags trial-balance, month-end, close, ledger
  phrase fetch the trial balance for {period}
  phrase get the month-end trial balance for {period} as JSON
  phrase pull the {period} trial balance
  step MonthEndEncoder.fetch_trial_balance period={period}
fin-reconcile-bank: Reconcile the bank accounts
  about Matches bank statements with the general ledger for a month.
  packet PROC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:bank_reconciliation|period:{period}|validate:gl_match
  tags bank, reconciliation, month-end, general-ledger
  phrase reconcile the bank accounts for {period} against the general ledger
  phrase run the bank reconciliation for {period} and match it to the general ledger
fin-calculate-accruals: Calculate accruals
  about Accruals of a month.
  packet CALC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:accruals|period:{period}
  tags accruals, month-end, journal, cut-off
  phrase calculate and post the accruals for {period}
  phrase calculate the month-end accruals for {period}
fin-calculate-accruals-to-cutoff: Calculate accruals and check the cut-off
  about Accruals of a month, checked against the cut-off of the period.
  packet CALC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:accruals|period:{period}|validate:period_cutoff
  tags accruals, month-end, journal, cut-off
  phrase calculate the month-end accruals for {period} and validate the period cut-off
  phrase calculate the accruals for {period} and validate the period cut-off
fin-analyse-variances: Variance analysis
  about Compares two months and points out what differs materially.
  packet CALC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:variance_analysis|period:{period}|src_prev:gl://close/{previous}|highlight:MATERIAL_VARIANCE
  tags variance, month-end, analysis, comparison
  phrase calculate the variance analysis for {period} against {previous:period} and highlight material variances
  phrase compute the variances of {period} compared with {previous:period}, highlighting what is material
  step MonthEndEncoder.variance_analysis period={period} prev_period={previous}
fin-report-management-accounts: Management accounts
  about The management accounts of a month as PDF and Excel, for review.
  packet REPORT|FIN|return:FIN-Agent|p:2|aacp:1.1|period:{period}|fmt:pdf,xlsx|tmpl:mgmt_accounts_v1|highlight:REVIEW_REQ
  tags management-accounts, month-end, close, report
  phrase generate the management accounts for {period} as PDF and Excel for review
  phrase generate the {period} management accounts in PDF and Excel format
  step MonthEndEncoder.generate_management_accounts period={period}
fin-log-close: Log the certified close
  about The audit record that the books of a month were certified.
  packet LOG|FIN|return:AUD-Agent|p:2|aacp:1.1|res:close_certification|period:{period}|status:certified
  tags month-end, close, certification, audit
  phrase log the close certification for {period} as certified
  phrase log to the audit trail that the {period} month-end close is certified
fin-fetch-overdue-invoices: Fetch overdue invoices
  about Invoices that nobody has paid for more than a number of days after they were due.
  packet FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoices|filter:days_overdue>{days}
  tags invoices, overdue, receivables, dunning
  phrase fetch all invoices that are more than {days:number} days overdue
  phrase list all invoices overdue by more than {days:number} days
fin-flag-duplicate-invoice: Flag a duplicate invoice
  about Stops nothing, but has somebody look at an invoice that was probably sent twice.
  packet FLAG|FIN|return:FIN-Agent|p:1|aacp:1.1|res:invoice|filter:inv={invoice}|issue:duplicate
  tags invoice, duplicate, review
  phrase flag invoice {invoice:id} as a duplicate
  phrase flag invoice {invoice:id} as a possible duplicate for review
fin-flag-order-mismatch: Flag an invoice that does not fit its order
  about For invoices whose discrepancy with the purchase order has to be cleared up first.
  packet FLAG|FIN|return:FIN-Agent|p:1|aacp:1.1|res:invoice|filter:inv={invoice}|match:{order}|issue:po_mismatch
  tags invoice, discrepancy, mismatch, purchase-order
  phrase flag invoice {invoice:id} for a mismatch with purchase order {order:id}
  phrase flag the discrepancy between invoice {invoice:id} and purchase order {order:id}
fin-fetch-cash-position: Fetch the cash position
  about Balances of all bank accounts on a day.
  packet FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:cash_position|filter:date={date}
  tags cash, liquidity, treasury, bank
  phrase get the cash position as of {date}
  phrase fetch the cash position on {date}
fin-calculate-vat: Calculate the VAT return
  about Value added tax that is due for a quarter.
  packet CALC|FIN|return:FIN-Agent|p:1|aacp:1.1|res:vat_return|period:{quarter}
  tags vat, tax, vat-return, quarterly
  phrase calculate the VAT return for {quarter}
  phrase compute the VAT due for {quarter}
fin-merge-ledgers: Consolidate ledgers
  about One ledger for a month out of those of several companies.
  packet MERGE|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledgers|period:{period}|src:{entities}
  tags consolidation, ledger, entities, group
  phrase consolidate the ledgers of {entities:list} for {period}
  phrase merge the ledgers of the entities {entities:list} for {period}
fin-acknowledge-invoice: Acknowledge an invoice
  about Confirms that an invoice has arrived; says nothing about its payment.
  packet ACK|FIN|return:FIN-Agent|p:3|aacp:1.1|res:invoice|filter:inv={invoice}|sup:{supplier}
  tags invoice, receipt, supplier
  phrase acknowledge receipt of invoice {invoice:id} from {supplier:name}
  phrase confirm to {supplier:name} that we have received invoice {invoice:id}
`;
