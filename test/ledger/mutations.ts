import type { Mutation } from "../mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  {
    name: "an exhausted account reserves",
    find: "others !== undefined || (blocked.length > 0 && !isPrepaid)",
    replace: "others !== undefined",
  },
  { name: "a strict reservation overdraws", find: "strict ? Math.max(1, amountMicro) : 1", replace: "1" },
  {
    name: "a strict reservation of nothing needs nothing",
    find: "strict ? Math.max(1, amountMicro) : 1",
    replace: "strict ? amountMicro : 1",
  },
  {
    name: "prepaid credits fund nothing",
    find: "const isPrepaid = blocked.length > 0 &&",
    replace: "const isPrepaid = false &&",
  },
  { name: "caps and rates deny nothing", find: "others !== undefined || (blocked", replace: "(blocked" },
  {
    name: "windows are named though prepaid credits could pay",
    find: "blocked: isPrepaid ? [] : blocked",
    replace: "blocked",
  },
  {
    name: "what prepaid credits paid names windows",
    find: "return part?.prepaidAt === undefined ? receipt.starts : noStarts;",
    replace: "void part;\n  return receipt.starts;",
  },
];
