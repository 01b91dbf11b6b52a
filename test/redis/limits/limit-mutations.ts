// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is found in the source, where codes stand in templates
import type { Mutation } from "../../mutation/mutation.js";

const limits = "limits/limits";

/** In prepaid credits, caps and rates. */
export const limitMutations: readonly Mutation[] = [
  {
    name: "an expired lot funds calls",
    find: "if now < lot.expiresAt then available = available + lot.left end",
    replace: "available = available + lot.left",
    part: "prepaid",
  },
  {
    name: "held prepaid credits fund calls",
    find: "return available - prepaid.held >= need",
    replace: "return available >= need",
  },
  {
    name: "a charge uses lots that had expired before",
    find: "if lot.expiresAt > admittedAt then",
    replace: "if true then",
  },
  {
    name: "prepaid credits lapse under an open call",
    find: "now < first.expiresAt or prepaid.held > 0 then return",
    replace: "now < first.expiresAt then return",
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
    test: limits,
  },
  {
    name: "a clock that steps back fills a bucket",
    find: "math.max(0, now - bucket.at) * bucket.limit",
    replace: "math.abs(now - bucket.at) * bucket.limit",
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
    name: "a hold raises windows though prepaid credits fund it",
    find: "  if part and part.prepaidAt then return end\n",
    replace: "",
  },
  {
    name: "a call that prepaid credits fund counts in windows",
    find: "not (part and part.prepaidAt) and addCharge",
    replace: "addCharge",
  },
  {
    name: "the journal shows it in windows",
    find: "return part and part.prepaidAt and {} or lease",
    replace: "return lease",
  },
  {
    name: "a part outlives its hold",
    find: "write('HDEL', holdsKey, id, partField(id))",
    replace: "write('HDEL', holdsKey, id)",
    test: limits,
  },
  {
    name: "a top-up is added again",
    find: "  if earlier then return answerAlone(${code.done}) end\n",
    replace: "",
  },
  {
    name: "a failed operation stays in what it changed",
    find: "  if limits then limits.drop() end\n",
    replace: "",
    part: "account",
    test: limits,
  },
];
