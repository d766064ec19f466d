/** Words that say the contrary of each other. Names of classes or base forms, as parts of instructions have them. */
export const ANTONYMS = `
approve reject; accept reject; include exclude; active inactive; before after; over under; at-least at-most; more less; more fewer;
increase decrease; raise lower; rise fall; open close; open+ed close+ed; enable disable; grant revoke; lock unlock; block unblock;
add remove; add delete; create delete; hire dismiss; onboard offboard; start stop; start finish; resume suspend; first last; new old;
new existing; new-hire leaver; high low; higher lower; highest lowest; biggest smallest; large small; internal external; public private;
permanent temporary; full-time part-time; credit debit; buy sell; purchase sell; import export; upload download; paid unpaid;
pay+ed unpaid; valid invalid; complete incomplete; eligible ineligible; approve+ed reject+ed; matched unmatched; billable nonbillable;
early late; latest oldest; minimum maximum; gross net; gross-pay net-pay; incoming outgoing; inbound outbound; debit credit; profit loss;
customer supplier; employee contractor; accounts-payable accounts-receivable; asset liability; encrypt decrypt; attach detach;
accept+ed decline+ed; positive negative; success failure; pass fail; gain loss; send receive; send+ed receive+ed; upgrade downgrade;
archive restore; publish withdraw; online offline; without with; current former; won lost; win+ed lose+ed; overpay+ed underpay+ed;
compliant noncompliant; planned unplanned; resolve+ed unresolved; assign+ed unassigned; answer+ed unanswered; monthly annual
`;
