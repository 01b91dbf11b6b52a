import type { Mutation } from "../../meta/mutation/mutation.js";

/** Of what all audit trails and logs of requests share. */
export const bookMutations: readonly Mutation[] = [
  {
    name: "a client that leaves counts as a failure",
    find: '  if (status === 499 || endReason === "client_gone") return undefined;\n',
    replace: "",
    test: "../memory/memory-stores",
  },
  {
    name: "a page of few lines reads all lines",
    find: "    if (read >= mostRead) return",
    replace: "    if (read < 0) return",
    test: "request-pages",
  },
  {
    name: "a page has one line too many",
    find: "if (requests.length === limit && last",
    replace: "if (requests.length > limit && last",
    test: "request-pages",
  },
  {
    name: "a line with a name that no store keeps is written",
    find: "line[name] === undefined ? undefined : idProblem(line[name])",
    replace: "undefined",
    test: "../memory/memory-stores",
  },
];
