/**
 * Things and qualities that business instructions speak of. One line for each: its name, then the words and phrases for the
 * same. What is merely related ("salary", "payroll") stands apart.
 */
export const NOUNS = `
employee: staff, personnel, worker, staff member, member of staff, team member, workforce, colleague, employed person, staffer
contractor: freelancer, independent contractor
new-hire: new colleague, new worker, new team member, new starter, new joiner, joiner, new employee, new recruit, starter, new staff member, incoming employee
leaver: departing employee, outgoing employee, employee who is leaving, employee leaving
applicant: candidate, job applicant, job candidate
vacancy: open position, open role, job opening, open vacancy, opening, unfilled position, unfilled role
salary: pay, wage, remuneration
base-salary: base pay, basic pay, basic salary
gross-pay: gross salary
net-pay: net salary, take home pay
payslip: pay slip, wage slip, salary slip
payroll: pay run, payrun
deduction: withholding
overtime: extra hour, overtime hour
leave: annual leave, time off, pto, paid time off, holiday leave, vacation leave
sick-leave: sickness absence, sick day, sickness leave
absence: absenteeism
appraisal: performance review, performance appraisal, staff appraisal, performance evaluation
timesheet: time sheet
headcount: head count, number of employee, employee count, number of staff
turnover-rate: staff turnover, employee turnover, attrition, attrition rate, churn of staff
training: training course, learning course
probation: probation period, probationary period, trial period
benefit: perk
department: dept
team: squad
supplier: vendor
contractor-list: list of contractor
customer: client
lead: sales lead
opportunity: deal, sales opportunity
quote: quotation, price quote
invoice: bill
credit-note: credit memo
purchase-order: po, purchasing order
goods-receipt: goods receipt note, grn, goods received note
receipt: proof of purchase
payment: remittance, pay out, payout
bank-transfer: wire transfer, bank wire, bacs transfer
bank-account: account at the bank
statement: account statement
bank-statement: statement from the bank, statement of the bank
cost-centre: cost centre
budget: spending plan
spend: spending, expenditure, outlay
expense: expenses
expense-claim: expense report, expenses claim, claim for expense, reimbursement claim, reimbursement request
revenue: sales revenue
profit-and-loss: p & l, p and l, pnl, income statement, profit and loss statement, p & l statement
balance-sheet: statement of financial position
cash-flow: cashflow
general-ledger: gl, ledger
journal: journal entry, journal posting, gl entry
accrual: accrued expense
accounts-payable: payables ledger, purchase ledger
accounts-receivable: sales ledger
management-accounts: management account, monthly management account, mgmt account
month-end: end of month close, monthly close, month end close
year-end: end of year close, annual close, year end close
year-to-date: ytd, so far this year
month-to-date: mtd
quarter-to-date: qtd
reconciliation: recon
variance: deviation
forecast: projection, outlook
vat: value added tax
tax: taxation
kpi: key performance indicator
roi: return on investment
nps: net promoter score
csat: customer satisfaction score, customer satisfaction
ltv: lifetime value, customer lifetime value, clv
sla: service level agreement, service level
exchange-rate: fx rate, foreign exchange rate, rate of exchange, currency rate
contract: agreement
nda: non disclosure agreement, nondisclosure agreement, confidentiality agreement, non disclosure
msa: master service agreement, master services agreement
dpa: data processing agreement, data processing addendum
sow: statement of work
counterparty: other party, contracting party, counter party
intellectual-property: ip right, intellectual property right
liability: legal liability
litigation: court case, lawsuit, legal proceeding, law suit
gdpr: general data protection regulation
dsar: data subject access request, subject access request, data access request
personal-data: personal information, pii, personally identifiable information
signature: sign off signature
lawyer: solicitor, attorney, legal counsel, counsel
renewal: contract renewal
expire: lapse, run out, expiry
expiry: expiration, expiry date, expiration date
compliance: regulatory compliance
ad-account: active directory account, ad user, active directory user, ad user account, directory account
mailbox: email inbox, inbox
email-address: e mail address
distribution-list: mailing list, email list
laptop: notebook, laptop computer
computer: pc, workstation
phone: telephone
mobile-phone: cell phone, mobile, cellphone
software: app
licence: license
access: access right, access permission
vpn: virtual private network, vpn access, vpn connection
mfa: multi factor authentication, two factor authentication, 2fa, multifactor authentication
password: passcode, passphrase, pwd
server: host machine
outage: service outage
incident: incident ticket
backup: back up, backup copy
vulnerability: security hole, security vulnerability, security flaw
bug: defect, software bug, software defect
ticket: support ticket, helpdesk ticket, help desk ticket
helpdesk: help desk, service desk, support desk
badge: access badge, id badge, access card, key card, keycard
crm: customer relationship management, customer relationship management system, crm system
hrms: hr system, hr information system, hris, human resource system, human resource management system
erp: erp system, enterprise resource planning system
m365: microsoft 365, office 365, o365
complaint: complaint case
feedback: customer feedback, client feedback
survey: questionnaire
refund: reimbursement
loyalty: customer loyalty
churn: customer churn
campaign: marketing campaign
newsletter: email newsletter
subscriber: person subscribed
audience: target audience
website: web site
landing-page: landing site
social-media: social network
ad: advert, advertisement
conversion-rate: rate of conversion
click-through-rate: ctr
pipeline: sales pipeline, deal pipeline
commission: sales commission
territory: sales territory, sales region
rep: sales rep, sales representative, account executive
order: customer order, sales order
product: merchandise
warehouse: depot
shipment: delivery, consignment
return-policy: policy on return
price: price point
discount: price reduction
report: write up
summary: overview, synopsis, summary report
breakdown: split by category
anomaly: irregularity, outlier
discrepancy: mismatch, inconsistency
exception: special case
deadline: due date, cut off date, cutoff date
reminder: reminder notice
notification: notice
attachment: enclosure
template: boilerplate
excel: xlsx, spreadsheet, excel spreadsheet, excel file, excel workbook, workbook, excel sheet, xls
pdf: pdf file, pdf document
csv: csv file, comma separated value, comma separated file
json: json array, json object, json document, json file
audit-trail: audit log, audit record, audit entry
finance: fin
hr: hr department, hr team, people team, people department
information-technology: it department, it team
marketing: mkt
customer-service: customer services, customer support, client service, customer care, cs, cs team
overdue: past due, past their due date, past the due date, past its due date, late in payment
outstanding: still owed, still open for payment
pending: awaiting, wait for, waiting for, await
email: e mail, email message
payment-term: payment terms, terms of payment, term of payment
urgent: asap, as soon as possible, immediately, urgently, right away, straight away, at once, without delay, as a matter of urgency, top priority, at the earliest opportunity, promptly
duplicate: double, duplicated
monthly: each month, every month, per month, month by month, month on month, once a month
quarterly: each quarter, every quarter, per quarter, quarter by quarter, once a quarter
weekly: each week, every week, per week, week by week, once a week
annual: yearly, each year, every year, per year, once a year, per annum, annually
nightly: every night, each night, night by night
average: mean
free-of-charge: free of charge, at no charge, at no cost, without charge, for free, gratis, complimentary
daily: each day, every day, per day, day by day, once a day
latest: most recent, newest, most up to date
current: present, at present, at the moment, right now, currently, presently, at this time
high-value: high in value, of high value
biggest: largest, highest
smallest: lowest
failed: unsuccessful
automatic: automated
remaining: rest, left over
finished: done, completed
approval: sign off
approved-budget: approve budget
contribution-rate: rate of contribution
allocation: apportionment
office: workplace
region: area
country: nation
participant: attendee
question: query
answer: response
assessment: evaluation
investigation: inquiry, enquiry
manager: manager
pension: pension
direct-debit: direct debit
trial-balance: trial balance
amount: amount
clause: clause
policy: policy
goodwill: goodwill
stock: stock
error: error
risk: risk
dashboard: dashboard
legal: legal
sales: sales
history: history
meeting: meeting
holder: holder
purchase: purchase
`;
