/** Rules for IT and infrastructure; see ../bundled.ts for the form. */
export const IT_RULES = `
it-create-account: Provision a user account
  about A directory account for a joiner, with the groups of the department.
  packet BUILD|IT|return:IT-Agent|p:1|aacp:1.1|res:ad_account|filter:usr={username}|fields:email,dept,grp,pwd_reset|rules:dept={department}
  tags provisioning, account, active-directory, joiner, access
  phrase create an Active Directory account for user {username:text} in the {department:text} department
  phrase provision a user account for {username:text} in department {department:text}
  phrase create a directory account for the new user {username:text}, department {department:text}
  step JMLEncoder.create_account username={username} dept={department}
it-assign-licences: Assign licences
  about Software licences for a user.
  packet PROC|IT|return:IT-Agent|p:1|aacp:1.1|res:licence_assignment|filter:usr={username}|req:{licences}
  tags licences, software, provisioning, joiner
  phrase assign the licences {licences:list} to user {username:text}
  phrase assign user {username:text} licences for {licences:list}
  step JMLEncoder.assign_licences username={username} licences={licences}
it-configure-access: Configure access
  about The access profile of a user: the systems that are open to them.
  packet BUILD|IT|return:IT-Agent|p:1|aacp:1.1|res:access_profile|filter:usr={username}|req:{systems}
  tags access, profile, systems, joiner
  phrase configure access to {systems:list} for user {username:text}
  phrase build an access profile for user {username:text} with {systems:list}
  step JMLEncoder.configure_access username={username} systems={systems}
it-update-access: Change access for a new role
  about For movers: the access of a new role, and none of the old one kept by mistake.
  packet PROC|IT|return:IT-Agent|p:1|aacp:1.1|res:access_update|filter:usr={username}|rules:role={role}|validate:no_privilege_creep
  tags access, mover, role, privileges
  phrase update the access of user {username:text} for the new role {role:text}
  phrase change the access rights of user {username:text} to the role {role:text} without privilege creep
  step JMLEncoder.update_access username={username} new_role={role}
it-revoke-access: Revoke all access
  about For leavers: all access is taken back.
  packet PROC|IT|return:IT-Agent|p:1|aacp:1.1|res:access_revocation|filter:usr={username}
  tags access, revoke, leaver, offboarding
  phrase revoke all access of user {username:text}
  phrase revoke all access rights of user {username:text}
it-revoke-named-access: Disable the account and revoke licences and VPN
  about For leavers: the account is disabled, licences and VPN are taken back.
  packet PROC|IT|return:IT-Agent|p:1|aacp:1.1|res:access_revocation|filter:usr={username}|req:disable_ad,revoke_licences,revoke_vpn
  tags access, revoke, leaver, offboarding
  phrase revoke all access of user {username:text}: disable the AD account, revoke the licences and revoke the VPN
  phrase disable the AD account of user {username:text}, revoke the licences and revoke the VPN
  step JMLEncoder.revoke_access username={username}
it-log-offboarding: Log an offboarding
  about The audit record that a user was offboarded.
  packet LOG|IT|return:AUD-Agent|p:1|aacp:1.1|filter:usr={username}|status:offboarded
  tags offboarding, leaver, audit
  phrase log that user {username:text} has been offboarded
  phrase log the offboarding of user {username:text} to the audit trail
it-provision-vpn: Set up VPN access
  about Remote access with multi-factor authentication for a user.
  packet PROC|IT|return:IT-Agent|p:2|aacp:1.1|res:vpn_access|filter:usr={username}|fields:profile,mfa
  tags vpn, remote-access, provisioning, mfa
  phrase set up VPN access for user {username:text}
  phrase provision VPN access with a profile and MFA for user {username:text}
  step ITEncoder.provision_vpn username={username}
it-provision-badge: Set up badge access
  about The doors that the badge of a user opens.
  packet PROC|IT|return:IT-Agent|p:2|aacp:1.1|res:badge_access|filter:usr={username}|fields:{zones}
  tags badge, door, building, provisioning
  phrase set up badge access to {zones:list} for user {username:text}
  phrase give user {username:text} badge access to {zones:list}
  step ITEncoder.provision_badge username={username} zones={zones}
it-fetch-open-incidents: Fetch open incidents
  about Incidents that are not resolved yet.
  packet FETCH|IT|return:IT-Agent|p:1|aacp:1.1|res:incidents|filter:status=open
  tags incidents, open, outage
  phrase fetch all open incidents
  phrase get the list of all open IT incidents
it-acknowledge-incident: Acknowledge an incident
  about Says that somebody looks after an incident.
  packet ACK|IT|return:IT-Agent|p:1|aacp:1.1|res:incident|filter:id={incident}
  tags incident, on-call, alert
  phrase acknowledge incident {incident:id}
  phrase acknowledge that incident {incident:id} is being looked at
it-resolve-incident: Resolve an incident
  about Has an incident worked on until it is over.
  packet RESOLVE|IT|return:IT-Agent|p:1|aacp:1.1|res:incident|filter:id={incident}
  tags incident, outage, fix
  phrase resolve incident {incident:id}
  phrase resolve the IT incident {incident:id}
it-report-uptime: Uptime report
  about How available the services were in a month.
  packet REPORT|IT|return:IT-Agent|p:3|aacp:1.1|res:uptime|period:{period}
  tags uptime, availability, sla, monthly
  phrase generate the uptime report for {period}
  phrase report on service availability for {period}
it-sync-directory: Synchronise the user directory
  about Brings the user directory up to date with the records of human resources.
  packet SYNC|IT|return:IT-Agent|p:2|aacp:1.1|res:user_directory|src:hr_records
  tags directory, users, active-directory
  phrase synchronise the user directory with the HR records
  phrase sync the user directory from the HR records
`;
