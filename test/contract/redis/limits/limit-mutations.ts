// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is found in the source, where codes stand in templates
import type { Mutation } from "../../../meta/mutation/mutation.js";

const limits = "limits/limits";

/** In prepaid credits, caps and rates. */
export const limitMutations: readonly Mutation[] = [
  {
    name: "an expired lot funds calls",
    find: "if moment < lot.expiresAt then balance = balance + lot.left end",
    replace: "balance = balance + lot.left",
    part: "prepaid",
  },
  {
    name: "held prepaid credits fund calls",
    find: "return math.max(0, balanceAt(now)), prepaid.held",
    replace: "return math.max(0, balanceAt(now)), 0",
  },
  {
    name: "a charge uses lots that had expired before",
    find: "if lot.expiresAt > admittedAt then",
    replace: "if true then",
  },
  {
    name: "prepaid credits lapse under an open call",
    find: "if finish < first.expiresAt then return end",
    replace: "",
  },
  {
    name: "prepaid credits lapse only once no call is open",
    find: "if not first or now < first.expiresAt then return end",
    replace: "if not first or now < first.expiresAt or call('ZCARD', leasesKey) > 0 then return end",
  },
  {
    name: "prepaid credits lapse with those that ended earlier, though an open call may need them",
    find: "return math.min(now, earliest)",
    replace: "return last and never or now, earliest",
  },
  {
    name: "a call needs prepaid credits that had ended before it",
    find: "return part and part.prepaidAt and part.prepaidAt < finish",
    replace: "return part and part.prepaidAt and 0 < finish",
  },
  {
    name: "a call that the plan paid so far needs no prepaid credits",
    find: "prepaidAt = ofPrepaid and now,",
    replace: "prepaidAt = (ofPrepaid or 0) > 0 and now or nil,",
  },
  {
    name: "a call that has ended needs prepaid credits",
    find: "if lease and not lease.isExpired and mayNeed(part, finish) then return never end",
    replace: "if true then return never end",
  },
  {
    name: "a call whose lease has expired needs prepaid credits",
    find: "if lease and not lease.isExpired and mayNeed(part, finish) then return never end",
    replace: "if lease and mayNeed(part, finish) then return never end",
  },
  {
    name: "all calls are looked at again and again for what has expired",
    find: "    account.neededBy = last\n",
    replace: "",
    test: "limits/lapse",
  },
  {
    name: "only the first calls are looked at for what has expired",
    find: "for first = 1, #ids, mostPerRead do\n    local page",
    replace: "for first = 1, math.min(1, #ids), mostPerRead do\n    local page",
    test: "limits/lapse",
  },
  {
    name: "a top-up pays nothing that is overdrawn",
    find: "local paid = math.min(getPrepaid().overdrawn, amount)",
    replace: "local paid = math.min(getPrepaid().overdrawn, 0)",
  },
  { name: "an account has any number of lots", find: "if #lots >= mostLots then return false end", replace: "" },
  {
    name: "prepaid credits end with the windows",
    find: "write('SET', prepaidKey, packedPrepaid)",
    replace: "write('SET', prepaidKey, packedPrepaid, 'PX', 86400000)",
    test: limits,
  },
  {
    name: "what a cap holds admits",
    find: "cap.used + cap.held + need > named.capLimits",
    replace: "cap.used + need > named.capLimits",
  },
  {
    name: "a cap without use stays",
    find: "(cap.used > 0 or cap.held > 0) and cap or false",
    replace: "cap",
  },
  {
    name: "a clock that steps back fills a bucket",
    find: "math.max(0, momentOf(bucket) - bucket.at)",
    replace: "math.abs(momentOf(bucket) - bucket.at)",
  },
  {
    name: "a process that is behind fills a bucket twice",
    find: "if bucket.at > now and bucket.at - now <= 1000 then return bucket.at end",
    replace: "",
  },
  {
    name: "a used bucket with open leases is unknown",
    find: "return bucket.held == 0 and levelNow",
    replace: "return levelNow",
  },
  {
    name: "an expiry keeps the tokens",
    find: "ending == 'release' or ending == 'expiry' and kind == tokens",
    replace: "ending == 'release'",
  },
  {
    name: "a release keeps what was taken",
    find: "ending == 'release' or ending == 'expiry' and",
    replace: "ending == 'expiry' and",
  },
  {
    name: "buckets go before their leases",
    find: "  if ttl >= 0 and ttl < longestLeaseMs then",
    replace: "  if false then",
    test: limits,
  },
  { name: "what is over stays", find: "isOver(read(packed)) then over", replace: "false then over", test: limits },
  { name: "a cap without end goes", find: "if before >= 0 then write('PERSIST', key) end", replace: "", test: limits },
  {
    name: "an expired lease takes twice",
    find: "  part.takes, part.uses = {}, {}\n",
    replace: "",
  },
  {
    name: "a hold raises windows though a part of it is prepaid",
    find: "  if part and part.prepaid > 0 then return end\n",
    replace: "",
  },
  {
    name: "what prepaid credits pay counts in windows",
    find: "addCharge(lease, held - ofPrepaid, amount - share)",
    replace: "addCharge(lease, held - ofPrepaid, amount)",
  },
  {
    name: "the journal shows it in windows",
    find: "share ~= 0 and share == amount and {} or lease",
    replace: "lease",
  },
  {
    name: "a part outlives its hold",
    find: "write('HDEL', holdsKey, id, partField(id), tagsField(id))",
    replace: "write('HDEL', holdsKey, id, tagsField(id))",
    test: limits,
  },
  {
    name: "a top-up is added again",
    find: "  if earlier then return answerAlone(${code.done}) end\n",
    replace: "",
  },
  {
    name: "limits: a bucket goes before it is full",
    find: "return math.min(math.max(fullInMs, longestLeaseMs), longestMs)",
    replace: "return math.min(fullInMs, longestMs)",
    test: limits,
  },
  {
    name: "limits: holds grow beyond the integers",
    find: "return held + amount <= maxInteger",
    replace: "return true",
    test: limits,
  },
  {
    name: "limits: prepaid credits grow beyond the integers",
    find: "  if sum > maxInteger then return ${code.tooLarge} end\n",
    replace: "",
  },
  {
    name: "limits: a top-up may have expired",
    find: "  if expiresAt <= now then return answerAlone(${code.tooEarly}) end\n",
    replace: "",
    test: limits,
  },
  {
    name: "limits: a charge brings back no cap",
    find: "elseif charge > 0 and isLater(cap, { start = start, finish = finish }) then",
    replace: "elseif false then",
  },
  {
    name: "limits: a renewal holds nothing more in caps",
    find: "  holdInCaps(part.caps, rise)\n",
    replace: "",
  },
  {
    name: "limits: a recovered call is charged to nothing but windows",
    find: "if leasedCaps and (prepaidAt > never or #leasedCaps > 0) then",
    replace: "if false then",
  },
  {
    name: "limits: open calls hold no tokens",
    find: "  if kind ~= requests then bucket.held = bucket.held + take end\n",
    replace: "",
  },
  {
    name: "limits: what a correction gives back never expires",
    find: "pay(-charge, first and first.expiresAt or maxInteger)",
    replace: "pay(-charge, maxInteger)",
    test: limits,
  },
  {
    name: "limits: a bucket keeps the burst of before",
    find: "local level = math.min(levelNow(stored), burst * partsPerUnit)",
    replace: "local level = levelNow(stored)",
  },
  {
    name: "limits: a bucket grows beyond its burst",
    find: "* bucket.limit, bucket.burst * partsPerUnit)",
    replace: "* bucket.limit, math.huge)",
  },
  {
    name: "limits: a part of a lease is never read",
    find: "return readLease(packed), packed and packedPart and cmsgpack.unpack(packedPart) or nil",
    replace: "return readLease(packed), nil",
  },
  {
    name: "a failed operation stays in what it changed",
    find: "  if limits then limits.drop() end\n",
    replace: "",
    part: "account",
    test: limits,
  },
  {
    name: "limits: leases end by themselves, though prepaid credits count them",
    find: "packedPrepaid and packedPrepaid ~= emptyPrepaid or call('PTTL', capsKey) == -1",
    replace: "call('PTTL', capsKey) == -1",
    test: "limits/endless-holds",
  },
  {
    name: "limits: leases end by themselves, though a cap without an end counts them",
    find: "packedPrepaid ~= emptyPrepaid or call('PTTL', capsKey) == -1",
    replace: "packedPrepaid ~= emptyPrepaid",
    test: "limits/endless-holds",
  },
  {
    name: "limits: leases that end by themselves stay so when one of prepaid credits joins them",
    find: "keepAccount(isExtended or part, true)",
    replace: "keepAccount(isExtended, true)",
    test: "limits/endless-holds",
  },
  {
    name: "limits: the use of a cap grows beyond the integers",
    find: "math.min(math.max(0, cap.used + charge), maxInteger)",
    replace: "math.max(0, cap.used + charge)",
  },
  {
    name: "limits: a reservation of nothing begins a cap",
    find: "    if amount > 0 then\n      caps[id] = cap",
    replace: "    if true then\n      caps[id] = cap",
  },
  {
    name: "limits: a cap goes before its end",
    find: "return cap.held == 0 and cap.finish + dayMs <= now",
    replace: "return cap.held == 0",
    test: limits,
  },
  {
    name: "limits: concurrent calls lower a level",
    find: "if kind ~= concurrent then bucket.level = bucket.level - take",
    replace: "if true then bucket.level = bucket.level - take",
    test: limits,
  },
  {
    name: "limits: a full bucket is charged by a call from before",
    find: "if not bucket or isBucketIdle(bucket) then return end",
    replace: "if not bucket then return end",
  },
  {
    name: "limits: a full bucket stays",
    find: "  if isBucketIdle(bucket) then buckets[id] = false end\n",
    replace: "",
    test: limits,
  },
  {
    name: "limits: a full bucket is not filled by a higher limit",
    find: "if not stored or isBucketIdle(stored) then",
    replace: "if not stored then",
  },
  {
    name: "limits: leases have no end though all prepaid credits were spent",
    find: "packedPrepaid and packedPrepaid ~= emptyPrepaid or",
    replace: "packedPrepaid or",
    test: "limits/endless-holds",
  },
  {
    name: "limits: a top-up of what is overdrawn leaves an empty lot",
    find: "if amount > paid and not addToLot",
    replace: "if not addToLot",
  },
  {
    name: "limits: what is overdrawn grows beyond the integers",
    find: "math.min(prepaid.overdrawn + due, maxInteger)",
    replace: "prepaid.overdrawn + due",
  },
  {
    name: "limits: caps hold more than the integers",
    find: "for _, cap in ipairs(named.caps) do held = math.max(held, cap.held) end",
    replace: "",
  },
  {
    name: "limits: a renewal without uses forgets the last ones",
    find: "    part.uses = uses or part.uses\n",
    replace: "    part.uses = uses or {}\n",
  },
  {
    name: "limits: a renewal after the expiry charges no cap",
    find: "    if limits then limits.keep() end\n",
    replace: "",
    part: "reserve",
  },
  {
    name: "limits: prepaid credits are there after they were forgotten",
    find: "  packedPrepaid = false\n",
    replace: "",
    part: "grant",
    test: limits,
  },
  {
    name: "limits: caps are there after they were forgotten",
    find: "  if limits then limits.drop() end\n",
    replace: "",
    part: "grant",
    test: limits,
  },
  {
    name: "limits: a cap outside its bounds is not minded",
    find: "    if not open[index] then return nil end\n",
    replace: "    open[index] = open[index] or newInstance(never, never)\n",
  },
  {
    name: "limits: a cap without end goes with the next day",
    find: "lifetime > 0 and before ~= -1 and lifetime > before",
    replace: "lifetime > 0",
    test: limits,
  },
];
