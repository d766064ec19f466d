/** Words of the trade that have no class of their own. */

/** What has a number or a reference of its own. */
export const ID_NOUNS = `
ticket invoice order po employee customer case lead contract account request incident id number no claim project quote supplier user
policy change asset device batch payment transaction shipment opportunity campaign complaint clause section article version matter
contractor badge booking receipt expense journal purchase-order credit-note expense-claim po applicant vacancy
`;

/** Who or what has a name or an address. */
export const BEARER_NOUNS = `
user employee customer supplier contractor applicant manager lead account host server counterparty campaign project agent person member
company new-hire leaver username rep partner email-address email address
`;

/** What kind of time follows. */
export const PERIOD_NOUNS = `
month period quarter year week date day
`;

/** Forms that an answer can have. */
export const FORMATS = `
json csv pdf excel html xml yaml markdown word docx text
`;

/** Words that are capitalised as titles, offices or products, and are no names of customers or people. */
export const FAMILIAR = `
director officer board committee agent head president chief executive ceo cfo coo cto cio chair chairman secretary accountant analyst
engineer assistant coordinator administrator specialist consultant buyer controller treasurer auditor partner owner operations
directory department team human resources resource office management senior junior regional national group division unit desk
salesforce jira slack workday sap xero netsuite zendesk hubspot sharepoint azure google microsoft teams outlook gmail github okta
servicenow quickbooks oracle stripe mailchimp linkedin powerpoint dropbox zoom confluence notion trello asana bamboohr concur coupa
internet web api english british american european uk us usa eu emea apac
payroll budget invoice report contract policy clause schedule annex appendix section article act regulation
i internal external general limited
and or but not if for to of in on at by with from
`;

/** Nouns that headings begin with, and that have no class of their own. */
export const PLAIN_NOUNS = `
bank exit salary sale sales click cash revenue cost costs margin tax vat gross net capital asset assets fixed debt debtor debtors creditor
creditors aged ageing interest dividend petty intercompany treasury fx currency credit legal court case board shareholder director
directors trademark patent lease rent property insurance risk data privacy security firewall network database host cloud email web
website traffic social media press event trade brand content blog video advert banner audience market customer client lead deal pipeline
quota region territory partner channel product service complaint feedback satisfaction response resolution waiting call chat
backlog escalation warranty delivery shipping stock warehouse employee staff personnel headcount leaver starter joiner onboarding
absence sickness holiday vacation overtime shift rota training appraisal performance grievance disciplinary pension benefits travel
password login user account access laptop device server mailbox licence software patch backup incident outage change release storage
win loss hit bounce churn open reach number total average median minutes agenda calendar diary room desk parking visitor badge newsletter campaign landing conversion
unpaid overdue open closed pending active inactive latest current new old maintenance product replacement
`;
