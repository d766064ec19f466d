/**
 * Frames that were not made up for this: the examples of draft-benzing-accp-00 that its ABNF accepts, and edge cases of its
 * value grammar (section 3.1.1).
 */
export const EXAMPLES: readonly string[] = [
  '@analyst>qry:lookup{src:$ctx.sales_db|q:revenue_by_region|fmt:summary}',
  '@orchestrator>sync:state{v:7|delta:{task_3:done,task_4:wip,budget:$42.30}}',
  '@research>ack:analyze{}[mid:49679033e07c,seq:3,ts:1714000000,cid:corr123,sid:abc-session]',
  '@agent>fail:error{code:E3001|msg:connection_timed_out|retry:true|schema:ER}[mid:abc,seq:4,ts:1714000001]',
  '@agent>sync:state{v:N+1|delta:{changed_key:new_val,removed_key:null}}',
  '@orchestrator>sync:registry{v:3|hash:a7f2c1}',
  '@user>req:chat{content:What_are_Q3_findings?|role:user|turn:1|schema:CH}[mid:...,seq:1]',
  '@assistant>done:chat{content:Revenue_declined_12%.|turn:2|schema:CH}[mid:...,seq:2,cid:...]',
  '@orchestrator>req:tool{tool:web_search|args:{q:ACCP,max:5}|schema:TC}[mid:m1,seq:1]',
  '@tool_agent>done:tool{tool:web_search|res:{hits:[...]}|stat:ok|schema:TC}[mid:m2,seq:2,cid:m1]',
  '@payments>req:transaction{txn:txn_001|amt:142.5|acc:acct_9876|schema:TX}[mid:...,seq:5]',
  '@payments>done:transaction{txn:txn_001|stat:settled|schema:TX}[mid:...,seq:6,cid:...]',
  '@streamer>stream:infer{idx:0|tot:3|d:Hello|schema:ST}[mid:m1,seq:1,cid:stream_abc]',
  '@streamer>stream:infer{idx:2|tot:3|d:!|done:true|schema:ST}[mid:m3,seq:3,cid:stream_abc]',
  '@dev>done:schedule{task:impl_auth|stat:complete|prog:100|schema:TA}[mid:...,seq:9,cid:...]',
  '@a>req:x{look:[true1,truee,TRUE,1.,.5,-,--1,1.2.3,12abc,1e5,5-6,-x]}',
  '@a>req:x{zeros:[007,-0,0,00.50,2.500,-0.0,0.0,1.0]|big:[9007199254740993,-9007199254740992,9007199254740991]}',
  '@a>req:x{__proto__:1|constructor:{toString:~}|empty:[[],{}]|deep:[[[[[1]]]]]}',
  '@a>req:x{every:[word,1,-1,1.5,-1.5,true,false,~,$cold.k.v_2,\\@a\\:b\\,c\\\\,{k:v},[x]]}',
  '@a>req:x{d:123456789012345.678|e:12345678901234567890.5|f:0.000001|g:3.14159265358979323846}',
];
