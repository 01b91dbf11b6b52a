import type { Mutation } from "../mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  {
    name: "usage leaves out what has refusals alone",
    find: "for (const count of left.values()) all.push(",
    replace: "for (const count of [] as RequestCounts[]) all.push(",
    test: "usage/usage-faults",
  },
  {
    name: "a target of what was an alias goes on with the counts of another model",
    find: "before?.alias === undefined ? before?.route : undefined",
    replace: "before?.route",
    test: "catalog/aliases",
  },
  {
    name: "a response that was read can be read again",
    find: "this.#isTaken = true;",
    replace: "this.#isTaken = false;",
  },
  {
    name: "a body that was handed out is read beside it",
    find: "  override get body(): ReadableStream<Uint8Array> | null {\n      this.#giveUp();",
    replace: "  override get body(): ReadableStream<Uint8Array> | null {",
  },
  {
    name: "a response that was read gives an unread body",
    find: "super.arrayBuffer().catch(() => {});",
    replace: "this.#kept = undefined;",
  },
  {
    name: "a URL is not parsed that has to be",
    find: "const plainPath = /^\\/[\\w/]*$/;",
    replace: "const plainPath = /^\\/[\\w/.]*$/;",
    test: "in-process/in-process-request",
  },
  {
    name: "who reads a response gets the gateway's own memory",
    find: "new Uint8Array(bytes).buffer",
    replace: "bytes.buffer as ArrayBuffer",
  },
  {
    name: "a call reads headers that its caller has changed",
    find: "const headers = new Headers(sent);",
    replace: "const headers = sent instanceof Headers ? sent : new Headers(sent);",
    test: "in-process/call-in-process",
  },
  {
    name: "a call reads the headers of a request that its caller has changed",
    find: "headers: new Headers(headers)",
    replace: "headers",
    test: "in-process/call-in-process",
  },
  {
    name: "a body is read at once that may come slowly",
    find: "minBytesPerSecond * ticksPerLook, maxBytes)",
    replace: "maxBytes)",
    test: "web-request",
  },
  {
    name: "a body is read at once that the host's code may read, too",
    find: "raw === undefined || this.#hostRequest !== undefined || ",
    replace: "raw === undefined || ",
    test: "web-request",
  },
  {
    name: "a body of the host is read at once that was read before",
    find: " && !raw.bodyUsed;",
    replace: ";",
    test: "web-request",
  },
  {
    name: "an entry that is not valid takes its model away",
    find: 'terms: earlier?.terms, problem: isTerms(read) ? "" : read.join("; ")',
    replace: 'terms: undefined, problem: isTerms(read) ? "" : read.join("; ")',
    test: "stored-models/failing-store",
  },
  {
    name: "a process without requests reads its store of models on and on",
    find: "    else this.#isFresh = false;\n",
    replace: "    else void this.#read();\n",
    test: "stored-models/failing-store",
  },
  {
    name: "requests wait for a store of models that is away",
    find: "    this.#isFresh = true;\n    if (this.#failures === 0)",
    replace: "    this.#isFresh = false;\n    if (this.#failures === 0)",
    test: "stored-models/failing-store",
  },
  {
    name: "a stored model loses the tokenizer of the options",
    find: "{ ...terms.model, tokenizer: given.tokenizer }",
    replace: "terms.model",
    test: "stored-models/models",
  },
  {
    name: "what an update takes away is not missed by stored models",
    find: "const problems = terms.size === 0 ? [] : catalogProblems({ ...options, models });",
    replace: "const problems: string[] = [];",
    test: "stored-models/models",
  },
  {
    name: "a flood of refusals fills the log of requests",
    find: "if (lines < mostAlike && this.#own < mostOwn) {",
    replace: "if (lines < mostAlike || this.#own < mostOwn) {",
    test: "requests/request-log-writer",
  },
  {
    name: "refusals that wait are not counted",
    find: "      known.count++;\n    } else if",
    replace: "      known.count += 0;\n    } else if",
    test: "requests/request-log-writer",
  },
  {
    name: "a batch of the log of requests that failed is not written again",
    find: "[...retryPausesMs, undefined]",
    replace: "[undefined]",
    test: "requests/request-log-writer",
  },
  {
    name: "lines of requests wait without a bound",
    find: "if (this.#waiting >= maxRows || this.#bytes + bytes > maxBytes) {",
    replace: "if (this.#bytes + bytes > maxBytes) {",
    test: "requests/request-log-writer",
  },
  {
    name: "what waits of a forgotten account is logged",
    find: "this.#queue = this.#queue.filter((line) => isOther(line) || this.#release(line));",
    replace: "",
    test: "requests/logged-requests",
  },
];
