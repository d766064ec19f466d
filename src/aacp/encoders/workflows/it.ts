import { defineWorkflow } from '../define-workflow.js';
import { actor, list, text, USERNAME } from '../inputs.js';

const EMAIL = text('the e-mail address', { personal: true, example: 'j.smith@example.com' });

/** What a new employee gets, in six steps. */
export const ITEncoder = defineWorkflow({
  name: 'ITEncoder',
  alias: 'it',
  summary: 'IT provisioning: account, mailbox, VPN, CRM, badge, log.',
  steps: {
    create_ad_account: {
      summary: 'Create the directory account.',
      task: 'BUILD',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME, email: EMAIL, department: text('the department', { example: 'Sales' }) },
      fields: [
        ['res', 'ad_account'],
        ['filter', ['usr={username}']],
        ['fields', 'email,dept,grp,pwd_reset'],
        ['fmt', 'json'],
        ['rules', ['dept={department}'], { only: 'default' }],
      ],
    },
    provision_email: {
      summary: 'Set up the mailbox.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { email: EMAIL, licence: text('the licence', { default: 'm365_business_standard' }) },
      fields: [
        ['res', 'm365_mailbox'],
        // An address is personal data (section 15): in the default mode, it is behind the pointer.
        ['filter', ['email={email}'], { only: 'compat' }],
        ['fields', 'licence,sig,dl'],
        ['rules', ['licence={licence}'], { only: 'default' }],
      ],
    },
    provision_vpn: {
      summary: 'Set up access by VPN.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 2,
      inputs: { username: USERNAME },
      fields: [
        ['res', 'vpn_access'],
        ['filter', ['usr={username}']],
        ['fields', 'profile,mfa'],
      ],
    },
    provision_crm: {
      summary: 'Set up the CRM user.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 2,
      inputs: {
        username: USERNAME,
        profile: text('the profile', { default: 'sales_rep' }),
        team: text('the team', { optional: true, example: 'EMEA' }),
      },
      fields: [
        ['res', 'salesforce_user'],
        ['filter', ['usr={username}']],
        ['fields', 'profile,team,mgr,view'],
        ['rules', ['profile={profile}', 'team={team}'], { only: 'default' }],
      ],
    },
    provision_badge: {
      summary: 'Give a badge access to zones.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 2,
      inputs: {
        username: USERNAME,
        zones: list('the zones', { default: ['main_entrance', 'office_floor'] }),
      },
      fields: [
        ['res', 'badge_access'],
        ['filter', ['usr={username}']],
        ['fields', ['{zones}']],
        // They are no fields to return: who knows those still has to be told the zones.
        ['req', ['{zones}'], { only: 'default', ifKnown: true }],
      ],
    },
    log_provisioning: {
      summary: 'Log what was set up.',
      task: 'LOG',
      domain: 'IT',
      returnAgent: 'AUD-Agent',
      priority: 3,
      inputs: {
        username: USERNAME,
        systems: list('the systems, in order', { default: ['AD', 'M365', 'VPN', 'CRM', 'BADGE'] }),
        actor: actor('IT-Agent'),
      },
      fields: [
        ['filter', ['usr={username}']],
        ['status', 'ok'],
        ['actor', '{actor}'],
        ['chain', ['{systems}']],
      ],
    },
  },
  sequences: {
    full_onboarding: {
      summary: 'All that a new employee gets.',
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
