/**
 * Words whose base form no rule finds: spellings of American English, irregular forms, and words that only look inflected. Each
 * with the form that stands for it; `+ed` marks a past participle, which is another quality than the verb. Spellings in -ize
 * and -yze are a rule.
 */
export const SPELLINGS = `
center centre; centers centre; color colour; colors colour; favor favour; labor labour; honor honour; behavior behaviour; neighbor neighbour;
license licence; licenses licence; program programme; programs programme; catalog catalogue; catalogs catalogue; dialog dialogue; analog analogue; meter metre; meters metre; liter litre; theater theatre;
fiber fibre; caliber calibre; canceled cancel+ed; canceling cancel; cancelled cancel+ed; cancelling cancel; cancellation cancel;
cancellations cancel; labeled label+ed; labelled label+ed; labelling label; traveled travel+ed; travelled travel+ed; travelling travel;
modeled model+ed; modelled model+ed; totaled total+ed; totalled total+ed; fulfill fulfil; fulfills fulfil; fulfilled fulfil+ed;
fulfillment fulfilment; enroll enrol; enrolls enrol; enrolled enrol+ed; enrollment enrolment; installment instalment; judgment judgement;
acknowledgment acknowledgement; gray grey; defense defence; offense offence; skillful skilful; aging ageing; inquiry enquiry; inquiries enquiry;
practise practice; cheques cheque;

paid pay+ed; sent send+ed; made make+ed; built build+ed; held hold+ed; kept keep+ed; lost lose+ed; met meet+ed; sold sell+ed; bought buy+ed;
spent spend+ed; taken take+ed; given give+ed; written write+ed; shown show+ed; known know+ed; found find+ed; done do+ed; drawn draw+ed;
chosen choose+ed; driven drive+ed; broken break+ed; begun begin+ed; agreed agree+ed; agrees agree; guaranteed guarantee+ed; referred refer+ed;
withdrawn withdraw+ed; overpaid overpay+ed; underpaid underpay+ed; won win+ed; owing owe; owed owe+ed;
using use; added add+ed; adding add; synced sync+ed; syncing sync; resynced resync+ed; resyncing resync; focused focus+ed; focusing focus;
cached cache+ed; caching cache; caches cache; freed free+ed; read read; reading read; tied tie+ed; left left+ed;

children child; men man; women woman; criteria criterion; analyses analysis; indices index; indexes index; bases base; goods goods;
approvals approve; approval approve; calculation calculate; calculations calculate; reconciliations reconciliation; payments payment;
renewals renewal; verification verify; validation validate; deletion delete; allocation allocate; allocations allocate;

series series; status status; statuses status; bonus bonus; bonuses bonus; census census; basis basis; access access; accesses access;
business business; businesses business; process process; address address; addresses address; progress progress; success success; loss loss;
losses loss; gross gross; previous previous; various various; bus bus; buses bus; plus plus; minus minus; campus campus; virus virus;
viruses virus; news news; always always; perhaps perhaps; sales sales; headquarters headquarters; overseas overseas; canvas canvas;
lens lens; dns dns; sms sms; crms crms; hrms hrms; gps gps; aws aws; saas saas; nps nps; class class; classes class; pos pos; cms cms; sas sas; gas gas;
premises premises; proceeds proceeds; savings savings; belongings belongings; customs customs; damages damages; securities securities; terms term; term term-length; minutes minutes; works works; accounts accounts;
analytics analytics; logistics logistics; operations operations;

speed speed; need need; needs need; feed feed; seed seed; proceed proceed; exceed exceed; succeed succeed; indeed indeed; bed bed; red red;
hundred hundred; embed embed; shed shed; united united; fixed fixed; mixed mixed; advanced advanced; detailed detailed; certified certified;

marketing marketing; accounting accounting; banking banking; meeting meeting; meetings meeting; training training; trainings training;
outstanding outstanding; pending pending; remaining remaining; following following; existing existing; upcoming upcoming;
incoming incoming; outgoing outgoing; rating rating; ratings rating; earning earning; earnings earning; pricing pricing;
engineering engineering; manufacturing manufacturing; consulting consulting; trading trading; warning warning; warnings warning;
opening opening; openings opening; thing thing; things thing; something something; anything anything; everything everything; morning morning;
evening evening; spring spring; string string; strings string; ring ring; bring bring; brings bring; building building; buildings building;
housing housing; clothing clothing; spending spending; billing billing; listing listing; listings listing; holding holding; shipping shipping; testing testing;
planning planning; funding funding; timing timing; setting setting; settings setting; reporting reporting; lending lending;
learning learning; hearing hearing; hearings hearing; finding finding; findings finding; standing standing; recurring recurring;
purchasing purchasing; operating operating; working working; awaiting awaiting; closing closing; hosting hosting; catering catering;
cleaning cleaning; parking parking; advertising advertising; invoicing invoicing; ticketing ticketing; packaging packaging; messaging messaging; monitoring monitoring; networking networking
`;
