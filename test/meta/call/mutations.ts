import type { Mutation } from "../mutation/mutation.js";

/** Of refusals that are remembered, of what is held for a prompt, and of bodies that are read. */
export const mutations: readonly Mutation[] = [
  {
    name: "the factor of an account does not replace that of its plan",
    find: "caller.accountPriceFactor ?? allowance.priceFactor",
    replace: "allowance.priceFactor ?? caller.accountPriceFactor",
    test: "price-for",
  },
  {
    name: "a failed attempt that is not charged costs the operator nothing",
    find: "if (!isCharged && micro === undefined) return undefined;",
    replace: "if (!isCharged) return undefined;",
    test: "operator-cost",
  },
  {
    name: "the journal does not keep what a call cost the operator",
    find: "    if (cost !== undefined) tags[costTag] = cost.micro;\n",
    replace: "",
    test: "operator-cost",
  },
  {
    name: "the cost of all attempts grows beyond what sums can add",
    find: "return Math.min(one + other, Number.MAX_SAFE_INTEGER);",
    replace: "return one + other;",
    test: "operator-cost",
  },
  {
    name: "a denial is remembered beyond its second",
    find: "secondsOf(waitOf(one, awaited)) === secondsOf(waitOf(other, otherAwaited))",
    replace: "true",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever was used since",
    find: "    one.usedMicro === other.usedMicro &&\n",
    replace: "",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever was bought since",
    find: "    isSamePrepaid(one.prepaid, other.prepaid) &&\n",
    replace: "",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever the key has used of its cap since",
    find: "isSameCapState(capOf(one, cap.id), capOf(other, cap.id)) &&",
    replace: "",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever has come back to a rate since",
    find: "areSame(one.rates, other.rates, isSameRate)",
    replace: "true",
    test: "repeated-denial",
  },
  {
    name: "a denial by the rates of one plan is told by those of another",
    find: "(last.rules === rules || result.rates === undefined)",
    replace: "true",
    test: "repeated-denial",
  },
  {
    name: "a call that is admitted after a denial holds nothing",
    find: "  request.amountMicro = mostMicro(call, named);\n",
    replace: "  if (!isOut) request.amountMicro = mostMicro(call, named);\n",
    test: "denied-again",
  },
  {
    name: "a call that is admitted after a denial takes nothing of a rate in tokens",
    find: "withNamed(request, isOut ? callLimits(call) : named)",
    replace: "withNamed(request, named)",
    test: "denied-again",
  },
  {
    name: "a prompt is held by its bytes, however little is left",
    find: "if (room.take(byBytes)) return byBytes;",
    replace: "return byBytes;",
    test: "loose-holds",
  },
  {
    name: "a prompt is held by its bytes, though a rate counts its tokens",
    find: "if (named === undefined && promptBound !== undefined",
    replace: "if (promptBound !== undefined",
    test: "loose-holds",
  },
  {
    name: "what is left is learned of a free call, which shows no limit",
    find: "if (!free && result.windows !== unknownStates)",
    replace: "if (result.windows !== unknownStates)",
    test: "loose-holds",
  },
  {
    name: "what is left is learned while the ledger is away",
    find: "if (!free && result.windows !== unknownStates)",
    replace: "if (!free)",
    test: "loose-holds",
  },
  {
    name: "a reservation that was answered holds for good beside what the ledger shows",
    find: "            room.arrive(request.amountMicro);\n",
    replace: "",
    test: "loose-holds-in-stores",
  },
  {
    name: "each key of an account holds as if it were alone",
    find: "holdRooms.of(caller.account)",
    replace: "holdRooms.of(caller.filedUnder)",
    test: "hold-rooms",
  },
  {
    name: "the beginning of a large piece is given back in place of its rest",
    find: "this.#rest === undefined ? piece : Buffer.concat([piece, this.#rest])",
    replace: "piece",
    test: "guarded/held-streams",
  },
  {
    name: "a body that another reads, too, is nobody's failure",
    find: "this.#flow.asked();\n    try {\n      this.#source[readPiece](this);\n    } catch (error) {\n      // A host's own provider may read its body, too.\n      this.breakOff(error);",
    replace:
      "this.#flow.asked();\n    try {\n      this.#source[readPiece](this);\n    } catch (error) {\n      // A host's own provider may read its body, too.\n      throw error;",
    test: "stream-relay",
  },
  {
    name: "a target's time goes on while its response is read",
    find: "  attempt.cameWhole();\n",
    replace: "",
    test: "../protocols/responses/late-answers",
  },
  {
    name: "who leaves while a long answer is read pays nothing for it",
    find: "    this.#pieces = [body];\n",
    replace: "",
    test: "leaving-long-answers",
  },
  {
    name: "the tags of a hook add to the budgets of the key's tags",
    find: "await applyBudgets(earlier.unbudgeted ?? earlier, tags)",
    replace: "await applyBudgets(earlier, tags)",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "a call has any number of budgets",
    find: 'tooMany(budgets, mostBudgets, "budgets", "budgets for the tags of a call")',
    replace: "undefined",
    test: "../gateway/budgets/budgets",
  },
];

/** Of prompts that are looked at when their count is asked for. */
export const lateCounts: readonly Mutation[] = [
  {
    name: "a prompt is looked at late, however much it may hold",
    find: "request.body.length < mayHaveTooMany ? undefined : countPrompt(request, model)",
    replace: "request === undefined ? countPrompt(request, model) : undefined",
  },
];
