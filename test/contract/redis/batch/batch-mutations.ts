import type { Mutation } from "../../../meta/mutation/mutation.js";

const ledger = "batch/batched-ledger";
const queue = "batch/operation-queue";
const limits = "limits/limits";

/** In how operations are put together, and what goes to the script and comes from it. */
export const batchMutations: readonly Mutation[] = [
  {
    name: "batch: an account takes the script no time of its own",
    find: "const ofAccount = earlier ? 0 : 1;",
    replace: "const ofAccount = 0;",
    test: queue,
  },
  {
    name: "batch: packed keys count one too few",
    find: "head.length + count + args.length",
    replace: "head.length + count + args.length - 1",
    test: "batch/packed-commands",
  },
  {
    name: "batch: packed texts are as long as they have characters",
    find: "Buffer.byteLength(argument)",
    replace: "argument.length",
    test: "batch/packed-commands",
  },
  {
    name: "batch: a prefix of the host's client is not before packed keys",
    find: ' !== textOf("digest"',
    replace: ' === textOf("digest" + "s"',
    test: "batch/packed-commands",
  },
  {
    name: "batch: what a host has put around commands does not see them",
    find: "return count === 1 && ",
    replace: "return ",
    test: "batch/packed-commands",
  },
  {
    name: "batch: few operations go beside a large script",
    find: "count >= this.#lastCount && !isEmpty",
    replace: "!isEmpty",
    test: queue,
  },
  {
    name: "batch: what is read of a reply is not what its caller gets",
    find: "    resolve(read(reply));",
    replace: "    resolve(reply);",
    test: ledger,
  },
  {
    name: "batch: any number of operations waits",
    find: "if (this.#parts.total.count >= maxWaitingOfAll) {",
    replace: "if (this.#parts.total.count < 0) {",
    test: queue,
  },
  {
    name: "batch: what was sent counts as waiting",
    find: "    this.#total.count += change;",
    replace: "    this.#total.count += Math.max(0, change);",
    test: queue,
  },
  {
    name: "batch: each queue of a cluster has a bound of its own",
    find: "      total: this.#total,\n      handOver: () => false,",
    replace: "      total: { count: 0 },\n      handOver: () => false,",
    test: queue,
  },
  {
    name: "batch: a lease names the session before",
    find: "      last.starts.session === number(at) &&\n      last.ends.session === number(at + 1) &&\n",
    replace: "",
  },
  {
    name: "batch: a lease names the week before",
    find: "      last.starts.week === number(at + step) &&\n      last.ends.week === number(at + step + 1) &&\n",
    replace: "",
    test: "batch/leased-windows",
  },
  {
    name: "batch: a settlement names the windows of the latest lease",
    find: "return last?.starts === windows.starts && last.ends === windows.ends ? this.#text : textOf(windows);",
    replace: "return this.#text;",
  },
  {
    name: "batch: prepaid credits lapse no more",
    find: "  if packedPrepaid and transition ~= forget then useLimits().lapse() end\n",
    replace: "",
    test: ledger,
  },
  {
    name: "batch: what a failed operation has counted beside the windows is lost",
    find: "    if limits then pcall(limits.keep) end\n",
    replace: "",
    test: limits,
  },
  {
    name: "batch: the keys of new leases last for ever",
    find: "hasHeld and call('PTTL', leasesKey) == -1",
    replace: "hasHeld and false",
  },
];
