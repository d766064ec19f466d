/** Rules for marketing; see ../bundled.ts for the form. */
export const MKT_RULES = `
mkt-fetch-campaign-performance: Fetch campaign performance
  about Reach, clicks and conversions of a campaign in a month.
  packet FETCH|MKT|return:MKT-Agent|p:2|aacp:1.1|res:campaign_performance|period:{period}|filter:campaign={campaign}
  tags campaign, performance, metrics, conversions
  phrase fetch the performance data of the campaign {campaign:name} for {period}
  phrase get the {period} performance metrics for campaign {campaign:name}
mkt-calculate-campaign-roi: Calculate campaign ROI
  about What a campaign brought in a quarter for what it cost.
  packet CALC|MKT|return:MKT-Agent|p:2|aacp:1.1|res:campaign_roi|period:{quarter}|filter:campaign={campaign}
  tags campaign, roi, return, spend
  phrase calculate the ROI of the campaign {campaign:name} for {quarter}
  phrase compute the {quarter} return on investment of campaign {campaign:name}
mkt-calculate-attribution: Calculate channel attribution
  about Which channels brought the revenue of a month.
  packet CALC|MKT|return:MKT-Agent|p:2|aacp:1.1|res:channel_attribution|period:{period}
  tags attribution, channels, revenue
  phrase calculate revenue attribution by channel for {period}
  phrase compute the channel attribution for {period}
mkt-report-campaigns: Monthly campaign report
  about All campaigns of a month as PDF.
  packet REPORT|MKT|return:MKT-Agent|p:3|aacp:1.1|res:campaigns|period:{period}|fmt:pdf
  tags campaigns, monthly, summary
  phrase generate the monthly campaign report for {period} as PDF
  phrase generate a PDF report on all campaigns for {period}
mkt-log-campaign-spend: Log campaign spend
  about Records what was spent on a campaign.
  packet LOG|MKT|return:MKT-Agent|p:3|aacp:1.1|res:campaign_spend|filter:campaign={campaign}|amt:{amount.value}|ccy:{amount.currency}
  tags campaign, spend, budget
  phrase log a spend of {amount} on the campaign {campaign:name}
  phrase log that {amount} was spent on campaign {campaign:name}
mkt-flag-underperforming-campaigns: Flag campaigns that underperform
  about Marks campaigns with fewer conversions than a number.
  packet FLAG|MKT|return:MKT-Agent|p:2|aacp:1.1|res:campaigns|filter:conversions<{number}|issue:underperforming
  tags campaigns, underperforming, conversions, alert
  phrase flag all campaigns with fewer than {number} conversions as underperforming
  phrase flag campaigns as underperforming that have had fewer than {number} conversions
mkt-apply-test-winner: Apply the winner of an A/B test
  about Makes the better variant of a test the one that everybody sees.
  packet PROC|MKT|return:MKT-Agent|p:2|aacp:1.1|res:ab_test|filter:id={test}|req:apply_winner
  tags ab-test, experiment, winner, variant
  phrase apply the winner of A/B test {test:id}
  phrase process A/B test {test:id} and apply the winner
mkt-build-segment: Build an audience segment
  about Customers who were inactive for a number of days, as an audience.
  packet BUILD|MKT|return:MKT-Agent|p:3|aacp:1.1|res:audience_segment|filter:inactive_days>{days}
  tags audience, segment, inactive, win-back
  phrase build an audience segment of customers inactive for more than {days:number} days
  phrase create a segment of customers who have been inactive for more than {days:number} days
mkt-sync-audience: Synchronise audiences
  about Brings the audiences of the advertising platform up to date with the CRM.
  packet SYNC|MKT|return:MKT-Agent|p:3|aacp:1.1|res:ad_audiences|src:crm
  tags audience, crm, advertising
  phrase synchronise the advertising audiences with the CRM
  phrase sync the ad audiences from the CRM
`;
