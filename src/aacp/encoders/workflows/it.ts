import { defineWorkflow } from '../define-workflow.js';
import { actor, list, step, text, USERNAME } from '../inputs.js';

const EMAIL = text('the e-mail address', { personal: true, example: 'j.smith@example.com' });

/** Provisions the accounts and systems of a new employee, in six steps. */
export const ITEncoder = defineWorkflow({
  name: 'ITEncoder',
  alias: 'it',
  summary: 'IT provisioning: account, mailbox, VPN, CRM, badge, log.',
  steps: {
    create_ad_account: step(
      ['BUILD', 'IT', 'IT-Agent', 1],
      'Create the directory account.',
      { username: USERNAME, email: EMAIL, department: text('the department', { example: 'Sales' }) },
      [
        ['res', 'ad_account'],
        ['filter', ['usr={username}']],
        ['fields', 'email,dept,grp,pwd_reset'],
        ['fmt', 'json'],
        ['rules', ['dept={department}'], { only: 'default' }],
      ],
    ),
    provision_email: step(
      ['PROC', 'IT', 'IT-Agent', 1],
      'Set up the mailbox.',
      { email: EMAIL, licence: text('the licence', { default: 'm365_business_standard' }) },
      [
        ['res', 'm365_mailbox'],
        // An e-mail address is personal data (section 15): in the default mode, it is behind the pointer.
        ['filter', ['email={email}'], { only: 'compat' }],
        ['fields', 'licence,sig,dl'],
        ['rules', ['licence={licence}'], { only: 'default' }],
      ],
    ),
    provision_vpn: step(['PROC', 'IT', 'IT-Agent', 2], 'Set up access by VPN.', { username: USERNAME }, [
      ['res', 'vpn_access'],
      ['filter', ['usr={username}']],
      ['fields', 'profile,mfa'],
    ]),
    provision_crm: step(
      ['PROC', 'IT', 'IT-Agent', 2],
      'Set up the CRM user.',
      {
        username: USERNAME,
        profile: text('the profile', { default: 'sales_rep' }),
        team: text('the team', { optional: true, example: 'EMEA' }),
      },
      [
        ['res', 'salesforce_user'],
        ['filter', ['usr={username}']],
        ['fields', 'profile,team,mgr,view'],
        ['rules', ['profile={profile}', 'team={team}'], { only: 'default' }],
      ],
    ),
    provision_badge: step(
      ['PROC', 'IT', 'IT-Agent', 2],
      'Give a badge access to zones.',
      { username: USERNAME, zones: list('the zones', { default: ['main_entrance', 'office_floor'] }) },
      [
        ['res', 'badge_access'],
        ['filter', ['usr={username}']],
        ['fields', ['{zones}']],
        // The zones are not fields to return: a receiver that knows its fields still needs the zones.
        ['req', ['{zones}'], { only: 'default', ifKnown: true }],
      ],
    ),
    log_provisioning: step(
      ['LOG', 'IT', 'AUD-Agent', 3],
      'Log the provisioning.',
      {
        username: USERNAME,
        systems: list('the systems, in order', { default: ['AD', 'M365', 'VPN', 'CRM', 'BADGE'] }),
        actor: actor('IT-Agent'),
      },
      [
        ['filter', ['usr={username}']],
        ['status', 'ok'],
        ['actor', '{actor}'],
        ['chain', ['{systems}']],
      ],
    ),
  },
  sequences: {
    full_onboarding: {
      summary: 'All steps of provisioning a new employee.',
      inputs: ['username', 'email', 'department'],
      steps: [
        'create_ad_account',
        'provision_email',
        'provision_vpn',
        'provision_crm',
        'provision_badge',
        'log_provisioning',
      ],
    },
  },
});
