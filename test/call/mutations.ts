import type { Mutation } from "../mutation/mutation.js";

/** Of refusals that are remembered, of what is held for a prompt, and of bodies that are read. */
export const mutations: readonly Mutation[] = [
  {
    name: "a denial is remembered beyond its second",
    find: "last?.seconds === seconds && isSame(last.result, result)",
    replace: "last !== undefined && isSame(last.result, result)",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever was used since",
    find: "last?.seconds === seconds && isSame(last.result, result)",
    replace: "last?.seconds === seconds",
    test: "repeated-denial",
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
    find: "if (!isFree && showsLimits(result, limits))",
    replace: "if (showsLimits(result, limits))",
    test: "loose-holds",
  },
  {
    name: "what is left is learned while the ledger is away",
    find: "if (!isFree && showsLimits(result, limits))",
    replace: "if (!isFree)",
    test: "loose-holds",
  },
  {
    name: "a reservation that was answered holds for good beside what the ledger shows",
    find: "    (reserved) => {\n      call.room.arrive(amountMicro);\n",
    replace: "    (reserved) => {\n",
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
    find: "      this.breakOff(error);",
    replace: "      throw error;",
    test: "stream-relay",
  },
];
