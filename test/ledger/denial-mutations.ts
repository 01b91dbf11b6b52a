import type { Mutation } from "../mutation/mutation.js";

/** Of denials that are asked for before a call is counted. */
export const denials: readonly Mutation[] = [
  {
    name: "windows alone are asked whether they deny, whatever else may",
    find: "if (known?.limits === undefined && caps === undefined && rates === undefined) {",
    replace: "if (true) {",
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
