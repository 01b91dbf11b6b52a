import type { Warn } from "../events/warning.js";

/** Clients choose them: of more, the host is not told. */
const mostWarned = 100;

/** Warns the host of each unknown beta once, however many requests have it. */
export function warnOfBetas(warn: Warn): (beta: string) => void {
  const warned = new Set<string>();
  return (beta) => {
    if (warned.size >= mostWarned || warned.has(beta)) return;
    warned.add(beta);
    const message =
      `A client sent the unknown value "${beta.slice(0, 200)}" of the header anthropic-beta. It was left out. Name it in the ` +
      "model's allowMembers to have it sent.";
    warn({ code: "unknown_beta", message });
  };
}
