import type { Mutation } from "../../../meta/mutation/mutation.js";

const sweeps = "limits/postgres-sweeps";
const slices = "usage/postgres-slices";

/** Lines of how the plan and prepaid credits pay together to break. */
export const fundingMutations: readonly Mutation[] = [
  // What admits
  {
    name: "prepaid credits admit nothing",
    find: "greatest(0, infergate.prepaid_balance(account.prepaid, moment))",
    replace: "0",
  },
  {
    name: "a debt takes from the plan",
    find: "greatest(0, infergate.prepaid_balance(account.prepaid, moment))",
    replace: "infergate.prepaid_balance(account.prepaid, moment)",
  },
  {
    name: "what prepaid credits hold admits",
    find: "plan_left + funds - prepaid_held < need",
    replace: "plan_left + funds < need",
  },
  {
    name: "prepaid credits admit without the plan",
    find: "plan_left + funds - prepaid_held < need",
    replace: "greatest(plan_left, 0) + funds - prepaid_held < need",
  },
  {
    name: "the pool admits what does not fit",
    find: "plan_left + funds - prepaid_held < need",
    replace: "plan_left + funds - prepaid_held < 1",
  },
  {
    name: "a debt of a window takes from prepaid credits",
    find: "then greatest(0, stock + instance.bonus - instance.used) - instance.held end",
    replace: "then stock + instance.bonus - instance.used - instance.held end",
  },
  {
    name: "prepaid credits hold more than can be counted",
    find: "if (funds > 0 or op ? 'named') and prepaid_held + amount > 9007199254740991 then",
    replace: "if false then",
  },

  // What is held
  {
    name: "the windows hold all of it",
    find: "by_prepaid := amount - greatest(0, plan_left);",
    replace: "null;",
  },
  {
    name: "prepaid credits hold what the windows hold too much",
    find: "amount - greatest(0, plan_left)",
    replace: "amount - plan_left",
  },
  {
    name: "a week holds all of it as well",
    find: "week.held := week.held + amount - by_prepaid;",
    replace: "week.held := week.held + amount;",
  },
  {
    name: "a call that prepaid credits hold alone begins windows",
    find: "    if by_prepaid = amount then return infergate.step('admitted', account, moment, infergate.lease(hold)); end if;\n",
    replace: "",
  },
  {
    name: "a lease does not say when it had prepaid credits",
    find: "jsonb_build_object('prepaidAt', moment, 'prepaid', by_prepaid)",
    replace: "jsonb_build_object('prepaid', by_prepaid)",
  },
  {
    name: "a lease does not say what prepaid credits hold",
    find: "jsonb_build_object('prepaidAt', moment, 'prepaid', by_prepaid)",
    replace: "jsonb_build_object('prepaidAt', moment)",
  },
  {
    name: "a hold does not keep the limits of its admission",
    find: "part, array[limits[1], limits[3], limits[8]]",
    replace: "part, null",
  },
  {
    name: "what a call has risen by is the plan's",
    find: "return hold.held - (hold.reserved - of_reserved);",
    replace: "return of_reserved;",
  },
  {
    name: "any rise of a call with prepaid credits is theirs",
    find: "if infergate.prepaid_part(known) > 0 then",
    replace: "if known.part ? 'prepaidAt' then",
  },

  // Who pays
  {
    name: "the plan pays for windows that are over",
    find: "  if room is null and held > 0 and held = hold.reserved then return charge; end if;\n",
    replace: "",
  },
  {
    name: "prepaid credits pay for windows that are over, whoever held",
    find: "if room is null and held > 0 and held = hold.reserved then",
    replace: "if room is null and held > 0 then",
  },
  { name: "prepaid credits pay all", find: "return charge - least(charge, room);", replace: "return charge;" },
  { name: "the plan pays all", find: "return charge - least(charge, room);", replace: "return 0;" },
  {
    name: "accounts without prepaid credits overdraw them",
    find: "if held = 0 and coalesce(infergate.prepaid_balance(account.prepaid, admitted_at) <= 0, true) then return 0; end if;",
    replace: "",
  },
  {
    name: "a call that holds prepaid credits is the plan's once they are spent",
    find: "if held = 0 and coalesce(",
    replace: "if coalesce(",
  },
  {
    name: "what was bought since the admission pays nothing",
    find: "coalesce((hold.part->>'prepaidAt')::bigint, moment);\n  room",
    replace: "coalesce((hold.part->>'prepaidAt')::bigint, 9007199254740991);\n  room",
  },
  {
    name: "what has expired since the admission pays nothing",
    find: "coalesce((hold.part->>'prepaidAt')::bigint, moment);\n  room",
    replace: "moment;\n  room",
  },
  {
    name: "what has expired since the admission is not charged",
    find: "account.prepaid, held, share, coalesce((hold.part->>'prepaidAt')::bigint, moment)",
    replace: "account.prepaid, held, share, moment",
  },
  {
    name: "what comes back is the plan's",
    find: "return -least(-charge, infergate.paid_before(hold));",
    replace: "return 0;",
  },
  {
    name: "what comes back is all prepaid",
    find: "return -least(-charge, infergate.paid_before(hold));",
    replace: "return charge;",
  },
  {
    name: "an expiry is not split",
    find: "share := infergate.prepaid_share(account, due, due.checkpoint, moment);\n    if",
    replace: "share := 0;\n    if",
  },
  {
    name: "a look does not split what expires",
    find: "share := infergate.prepaid_share(account, due, due.checkpoint, moment);\n    account",
    replace: "share := 0;\n    account",
  },
  {
    name: "an expired lease forgets what prepaid credits paid",
    find: "      update infergate.hold set part = infergate.with_paid(due, share) where id = due.id;\n",
    replace: "      null;\n",
  },
  {
    name: "a renewal after the expiry forgets what prepaid credits paid",
    find: "checkpoint = observed, part = infergate.with_paid(known, share),",
    replace: "checkpoint = observed,",
  },
  {
    name: "a renewal after the expiry is not split",
    find: "share := infergate.prepaid_share(account, known, rise, moment);",
    replace: "share := 0;",
  },
  { name: "a window that is over has no room", find: "or ends_at <= moment then null", replace: "then null" },
  {
    name: "a bonus is no room",
    find: "then greatest(0, stock + newest.bonus - newest.used)",
    replace: "then greatest(0, stock - newest.used)",
  },
  {
    name: "an overdrawn window takes from prepaid credits",
    find: "then greatest(0, stock + newest.bonus - newest.used)",
    replace: "then stock + newest.bonus - newest.used",
  },
  {
    name: "a window that was not stored has endless room",
    find: "    when infergate.is_later(newest, starts_at, ends_at, moment) then stock\n",
    replace: "",
  },
  ...["session", "week", "month"].map((window, index) => ({
    name: `a ${window} has endless room`,
    find: `infergate.room_in(account.${window}, hold.starts[${index + 1}], hold.ends[${index + 1}], hold.limits[${index + 1}], moment)`,
    replace: "null::bigint",
  })),

  // What is written of it
  {
    name: "a settlement does not say what prepaid credits paid",
    find: "if paid <> 0 then step.answer :=",
    replace: "if false then step.answer :=",
  },
  {
    name: "a late settlement says what prepaid credits paid of its difference",
    find: "paid := infergate.paid_before(known) + share;",
    replace: "paid := share;",
  },
  {
    name: "a repetition says what prepaid credits paid at last",
    find: "case when paid <> share then paid end",
    replace: "null",
  },
  {
    name: "a repetition does not say what prepaid credits paid",
    find: "infergate.paid_at_end(known.id)",
    replace: "0",
  },
  {
    name: "an entry that both paid does not say so",
    find: "case when share <> 0 and share <> amount then share end",
    replace: "null::bigint",
  },
  {
    name: "both pay all of it in the sums",
    find: "perform infergate.add_usage(owner, moment, calls, amount - share, false, entry_tags);",
    replace: "perform infergate.add_usage(owner, moment, calls, amount, false, entry_tags);",
  },
  {
    name: "the sums of prepaid credits have the tokens of what both paid",
    find: "entry_tags - array['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning']",
    replace: "entry_tags",
  },
  {
    name: "the sums of prepaid credits have the call that both paid",
    find: "owner, moment, 0, share, true,",
    replace: "owner, moment, calls, share, true,",
  },
  {
    name: "an expiry is all the plan's in the sums",
    find: "    by_plan := by_plan + due.checkpoint - share;\n",
    replace: "    by_plan := by_plan + due.checkpoint;\n",
  },
  {
    name: "an entry that both paid is once in the sums of a part of a day",
    find: "array[true, false] end) as is_call",
    replace: "array[true] end) as is_call",
    test: slices,
  },
  {
    name: "an entry that both paid is two calls in the sums of a part of a day",
    find: "kind = 'charge' and is_call then sign",
    replace: "kind = 'charge' then sign",
    test: slices,
  },
  {
    name: "tokens of an entry that both paid are twice in the sums of a part of a day",
    find: "case when is_call then tags->'input' end",
    replace: "tags->'input'",
    test: slices,
  },

  // Deductions
  {
    name: "a deduction takes nothing",
    find: "account.prepaid, 0, taken, moment)",
    replace: "account.prepaid, 0, 0, moment)",
  },
  {
    name: "a deduction takes what has expired",
    find: "account.prepaid, 0, taken, moment)",
    replace: "account.prepaid, 0, taken, 0)",
  },
  {
    name: "a deduction is not recognised again",
    find: "  insert into infergate.top_up values (op->>'id', account.id, -taken, never, moment);\n",
    replace: "",
  },
  {
    name: "a deduction may be a top-up",
    find: "infergate.earlier_top_up(account.id, op->>'id', -taken, never)",
    replace: "infergate.earlier_top_up(account.id, op->>'id', taken, never)",
  },
  {
    name: "an account that has spent all has had nothing",
    find: "  return prepaid;\nend\n$$;\n\n-- Gives back what was held, and charges what",
    replace:
      "  if prepaid = infergate.no_prepaid() then return null; end if;\n  return prepaid;\nend\n$$;\n\n-- Gives back what was held, and charges what",
  },

  // What earlier versions have left

  // Sweeps
  { name: "a sweep ends nothing", find: "  perform infergate.operate(\n", replace: "  perform (\n" },
  {
    name: "all processes sweep at once",
    find: "  if not pg_try_advisory_xact_lock(hashtextextended('infergate.sweep', 0)) then return 0; end if;\n",
    replace: "",
    test: sweeps,
  },
  {
    name: "a sweep waits for operations",
    find: "where id = any (due) order by id for update skip locked",
    replace: "where id = any (due) order by id for update",
    test: sweeps,
  },
  {
    name: "a sweep does not end what is due now",
    find: "where not expired and expires_at <= moment limit most_accounts",
    replace: "where not expired and expires_at < moment limit most_accounts",
  },
  {
    name: "a sweep goes over all accounts",
    find: "where not expired and expires_at <= moment limit most_accounts",
    replace: "where not expired limit most_accounts",
    test: sweeps,
  },
  {
    name: "a sweep ends at its first step",
    find: "if (count < sweptAtOnce) break;",
    replace: "break;",
    test: sweeps,
  },
  {
    name: "a sweep has no bound",
    find: "expires_at <= moment limit most_accounts",
    replace: "expires_at <= moment",
    test: sweeps,
  },
];
