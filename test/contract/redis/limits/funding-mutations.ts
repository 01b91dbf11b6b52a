// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is found in the source, where codes stand in templates
import type { Mutation } from "../../../meta/mutation/mutation.js";

const leases = "limits/leases";

/** In who pays: the plan, prepaid credits, or both. */
export const fundingMutations: readonly Mutation[] = [
  // What admits, and what is held
  {
    name: "funding: prepaid credits admit nothing",
    find: "if left + balance - heldOfBalance < need",
    replace: "if left < need",
  },
  {
    name: "funding: a debt of the plan is one of prepaid credits",
    find: "return math.max(0, limit + instance.bonus - instance.used)",
    replace: "return limit + instance.bonus - instance.used",
  },
  {
    name: "funding: a debt of prepaid credits is one of the plan",
    find: "return math.max(0, balanceAt(now)), prepaid.held",
    replace: "return balanceAt(now), prepaid.held",
  },
  {
    name: "funding: prepaid credits are held first",
    find: "amount - math.min(amount, math.max(0, left)) or nil",
    replace: "amount or nil",
  },
  {
    name: "funding: an overdrawn plan holds more than all of prepaid credits",
    find: "math.min(amount, math.max(0, left))",
    replace: "math.min(amount, left)",
  },
  {
    name: "funding: windows hold all of what is shared",
    find: "local ofPlan = amount - (prepaid or 0)",
    replace: "local ofPlan = amount",
  },
  {
    name: "funding: prepaid credits hold nothing",
    find: "  if part.prepaid > 0 then holdPrepaid(part.prepaid) end\n",
    replace: "",
  },
  {
    name: "funding: a rise is held of the plan and of prepaid credits",
    find: "if part.prepaid > 0 then holdPrepaid(rise) end",
    replace: "holdPrepaid(rise)",
  },
  {
    name: "funding: a call that prepaid credits alone fund opens a session",
    find: "if ofPlan == 0 and amount > 0 then",
    replace: "if false then",
  },
  // What a charge is split by
  {
    name: "funding: prepaid credits pay all, if they hold some",
    find: "  local room = roomOf(lease)\n",
    replace: "  local room = held > 0 and 0 or roomOf(lease)\n",
  },
  {
    name: "funding: what is charged to one window alone is paid by the plan",
    find: "least = math.min(least, roomIn(newest, limit))",
    replace: "least = roomIn(newest, limit)",
  },
  {
    name: "funding: a window that has ended limits",
    find: "if limit >= 0 and now < admitted.finish then",
    replace: "if limit >= 0 then",
  },
  {
    name: "funding: a window without a limit has no room",
    find: "if limit >= 0 and now < admitted.finish then",
    replace: "if now < admitted.finish then",
  },
  {
    name: "funding: a window that is not stored does not limit",
    find: "        least = math.min(least, limit)\n",
    replace: "",
  },
  {
    name: "funding: the plan pays for what it had nothing left for, once its windows are over",
    find: "  if room == math.huge and held > 0 and held == lease.amount then return charge end\n",
    replace: "",
  },
  {
    name: "funding: prepaid credits pay for what the plan held a part of, once its windows are over",
    find: "room == math.huge and held > 0 and held == lease.amount then",
    replace: "room == math.huge and held > 0 then",
  },
  {
    name: "funding: a top-up pays nothing of the calls that are open",
    find: "if held == 0 and not (packedPrepaid and useLimits().balanceAt(admittedAt(part)) > 0) then return 0 end",
    replace: "if held == 0 then return 0 end",
  },
  {
    name: "funding: an account in debt overdraws its prepaid credits",
    find: "useLimits().balanceAt(admittedAt(part)) > 0)",
    replace: "true)",
  },
  {
    name: "funding: lots that have expired since pay nothing of what the plan held",
    find: "return part and part.prepaidAt or now",
    replace: "return part and part.prepaid > 0 and part.prepaidAt or now",
  },
  {
    name: "funding: a hold that was raised is given back to the wrong ones",
    find: "return held - (lease.amount - part.prepaid)",
    replace: "return part.prepaid",
  },
  // What comes back
  {
    name: "funding: what is given back goes to the windows first",
    find: "if charge < 0 then return lease.paid == 0 and 0 or -math.min(-charge, lease.paid) end",
    replace: "if charge < 0 then return 0 end",
  },
  {
    name: "funding: prepaid credits get back more than they have paid",
    find: "-math.min(-charge, lease.paid) end",
    replace: "charge end",
  },
  {
    name: "funding: what was paid is not remembered",
    find: "  lease.paid = lease.paid + share\n",
    replace: "",
  },
  {
    name: "funding: a repetition does not say what prepaid credits paid",
    find: "    showPaid(known.paid)\n",
    replace: "",
  },
  {
    name: "funding: a receipt does not keep what prepaid credits paid",
    find: "return packPlain(lease) .. struct.pack('<d', lease.paid)",
    replace: "return packPlain(lease)",
  },
  {
    name: "funding: a settlement does not say what prepaid credits paid",
    find: "  showPaid(lease.paid)\n",
    replace: "",
  },
  {
    name: "funding: the journal does not say what prepaid credits paid",
    find: "  if prepaid and prepaid ~= 0 then packed = packed .. struct.pack('<d', prepaid) end\n",
    replace: "",
  },
  {
    name: "funding: the charge of an expiry shows as the plan's",
    find: "journalCharge(id, 'checkpoint', hold, hold.checkpoint, share,",
    replace: "journalCharge(id, 'checkpoint', hold, hold.checkpoint, 0,",
  },
  {
    name: "funding: the charge of a renewal after the expiry shows as the plan's",
    find: "journalCharge(id, 'checkpoint', hold, rise, share,",
    replace: "journalCharge(id, 'checkpoint', hold, rise, 0,",
  },
  {
    name: "funding: the limits of a call are unknown at its end",
    find: "  return packPlain(lease) .. struct.pack('<dddd', lease.paid, unpack(lease.limits))",
    replace: "  return packPlain(lease) .. struct.pack('<d', lease.paid)",
  },
  {
    name: "funding: the limits of a recovered call are unknown",
    find: "limits = { sessionLimit, weekLimit, monthLimit }, paid = 0,\n    }\n    if",
    replace: "paid = 0,\n    }\n    if",
  },
  {
    name: "funding: a recovered call held nothing of prepaid credits",
    find: "prepaid = prepaid, caps = leasedCaps",
    replace: "prepaid = 0, caps = leasedCaps",
  },
  {
    name: "funding: an account that has spent all seems to have had nothing",
    find: "(packedPrepaid or isPrepaidChanged) and #prepaid.lots or -1",
    replace: "#prepaid.lots > 0 and #prepaid.lots or -1",
  },
  {
    name: "funding: an account that has had nothing shows prepaid credits",
    find: "(packedPrepaid or isPrepaidChanged) and #prepaid.lots or -1",
    replace: "#prepaid.lots",
  },
  // Deductions
  {
    name: "funding: a deduction adds",
    find: "useLimits().deduct(-amount)",
    replace: "useLimits().topUp(-amount, expiresAt)",
  },
  {
    name: "funding: a deduction shows as a top-up",
    find: "amount < 0 and 'deduction' or 'topup'",
    replace: "'topup'",
  },
  {
    name: "funding: a deduction takes what has expired",
    find: "  chargePrepaid(amount, now)\n",
    replace: "  chargePrepaid(amount, never)\n",
  },
  {
    name: "funding: the id of a top-up is any account's",
    find: "if holder and holder ~= ARGV[1] then return 0 end",
    replace: "",
  },
  {
    name: "funding: the id of a top-up is forgotten before the account forgets it",
    find: "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])",
    replace: "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX')",
    test: leases,
  },
];
