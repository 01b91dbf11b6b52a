import { describe, expect, it } from "vitest";
import { LedgerUnavailableError } from "../../../../src/ledger/credit-ledger.js";
import { TimeLimitError } from "../../../../src/ledger/guard/time-limit.js";
import type { LedgerReply } from "../../../../src/stores/redis/ledger/ledger-reply.js";
import { OperationLanes } from "../../../../src/stores/redis/ledger/operation-lanes.js";
import type { BatchSizes } from "../../../../src/stores/redis/ledger/operation-queue.js";

interface Sent {
  /** `account:operation` of each, as sent. */
  readonly names: readonly string[];
  succeed(statuses?: Readonly<Record<string, LedgerReply["status"]>>): void;
  fail(error: Error): void;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const numbers = new Float64Array(2);

/** A queue, and the scripts that it has sent. */
function setUp(sizes: BatchSizes, isCluster = false) {
  const sent: Sent[] = [];
  const lanes = new OperationLanes(
    (groups) =>
      new Promise((resolve, reject) => {
        const names = groups.flatMap(({ waiting }) =>
          waiting.map(({ operation: { account, text } }) => `${account}:${text}`),
        );
        sent.push({
          names,
          succeed: (statuses = {}) =>
            resolve(names.map((name) => ({ status: statuses[name] ?? "done", numbers, first: 0 }))),
          fail: reject,
        });
      }),
    sizes,
    isCluster,
  );
  const outcomes: string[] = [];
  function submit(account: string, text: string | number): void {
    lanes.submit({ account, keys: { names: [], packed: "" }, text: String(text) }).then(
      ({ status }) => outcomes.push(`${account}:${text} ${status}`),
      (error: Error) => outcomes.push(`${account}:${text} ${error.name}`),
    );
  }
  return { lanes, sent, submit, outcomes };
}

describe("the queue of operations", () => {
  it("sends what came in one turn together, an account's operations in their order", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 16, inFlight: 8 });
    for (const name of ["a", "b", "a", "c", "b", "a"]) submit(name, sent.length);
    await Promise.resolve().then(() => submit("c", "later in the turn"));
    expect(sent).toEqual([]);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a:0", "a:0", "a:0", "b:0", "b:0", "c:0", "c:later in the turn"]]);
    sent[0]?.succeed();
    await turn();
    submit("d", 0);
    await turn();
    expect(sent[1]?.names).toEqual(["d:0"]);
    sent[1]?.succeed();
    await turn();
    expect(outcomes.slice(7)).toEqual(["d:0 done"]);
  });

  it("lets fewer operations than the last script had wait for its end, and as many go beside it", async () => {
    const { sent, submit } = setUp({ operations: 16, inFlight: 3 });
    for (const name of ["a", "b", "c"]) submit(name, 0);
    await turn();
    for (const name of ["d", "e"]) submit(name, 0);
    await turn();
    expect(sent).toHaveLength(1);
    submit("f", 0);
    await turn();
    expect(sent[1]?.names).toEqual(["d:0", "e:0", "f:0"]);
    submit("g", 0);
    sent[0]?.succeed();
    await turn();
    expect(sent).toHaveLength(2);
    sent[1]?.succeed();
    await turn();
    await turn();
    expect(sent[2]?.names).toEqual(["g:0"]);
    // Where there is little to do, nothing waits.
    for (const name of ["h", "i"]) {
      submit(name, 0);
      await turn();
    }
    expect(sent.slice(3).map(({ names }) => names)).toEqual([["h:0"], ["i:0"]]);
    submit("j", 0);
    await turn();
    expect(sent).toHaveLength(5);
  });

  it("lets an operation that comes alone, as the last one did, wait for no others", async () => {
    const { sent, submit } = setUp({ operations: 16, inFlight: 8 });
    submit("a", 0);
    await turn();
    sent[0]?.succeed();
    await turn();
    submit("a", 1);
    await Promise.resolve();
    expect(sent[1]?.names).toEqual(["a:1"]);
    // What comes while another is under way comes with more, as likely as not.
    submit("a", 2);
    await Promise.resolve();
    submit("b", 2);
    await turn();
    expect(sent[2]?.names).toEqual(["a:2", "b:2"]);
  });

  it("has no more scripts under way than it may, and fills those that follow", async () => {
    const { sent, submit } = setUp({ operations: 4, inFlight: 2 });
    for (let index = 0; index < 18; index++) submit(`account ${index % 3}`, index);
    await turn();
    expect(sent.map(({ names }) => names.length)).toEqual([5, 5]);
    submit("late", 0);
    await turn();
    expect(sent).toHaveLength(2);
    sent[1]?.succeed();
    await turn();
    await turn();
    expect(sent.map(({ names }) => names.length)).toEqual([5, 5, 4]);
    for (const script of sent) {
      for (let account = 0; account < 3; account++) {
        const places = script.names
          .filter((name) => name.startsWith(`account ${account}:`))
          .map((name) => Number(name.split(":")[1]));
        expect(places).toEqual([...places].sort((one, other) => one - other));
      }
    }
  });

  it("lets no account that has a thousand waiting hold another's first up by more than a batch", async () => {
    const { sent, submit } = setUp({ operations: 16, inFlight: 1 });
    for (let index = 0; index < 1_000; index++) submit("busy", index);
    await turn();
    submit("other", "first");
    sent[0]?.succeed();
    await turn();
    await turn();
    expect(sent[1]?.names).toContain("other:first");
    expect(sent.slice(0, 2).map(({ names }) => names.length)).toEqual([31, 30]);
    // It goes on where it was.
    expect(sent[1]?.names[0]).toBe("busy:31");
  });

  it("gives accounts their turns where more of them wait than a batch holds", async () => {
    const { sent, submit } = setUp({ operations: 2, inFlight: 1 });
    for (let index = 0; index < 4; index++) for (const name of ["a", "b", "c"]) submit(name, index);
    for (let script = 0; script < 6; script++) {
      await turn();
      await turn();
      sent[script]?.succeed();
    }
    expect(sent.slice(0, 3).map(({ names }) => names)).toEqual([
      ["a:0", "b:0"],
      ["c:0", "a:1"],
      ["b:1", "c:1"],
    ]);
  });

  it("refuses more than 10,000 waiting operations of an account, and none of others", async () => {
    const { submit, outcomes, lanes, sent } = setUp({ operations: 16, inFlight: 1 });
    for (let index = 0; index < 10_001; index++) submit("full", index);
    submit("other", 0);
    await Promise.resolve();
    await Promise.resolve();
    expect(outcomes).toEqual(["full:10000 LedgerUnavailableError"]);
    let isClosed = false;
    void lanes.idle().then(() => {
      isClosed = true;
    });
    for (let script = 0; script < 323; script++) {
      await turn();
      await turn();
      expect(isClosed).toBe(false);
      sent[script]?.succeed();
    }
    await turn();
    expect(outcomes).toHaveLength(10_002);
    expect(isClosed).toBe(true);
  });

  it.each([false, true])(
    "refuses more than 50,000 waiting operations of all accounts (cluster: %s)",
    async (isCluster) => {
      const { submit, outcomes, sent } = setUp({ operations: 1, inFlight: 1 }, isCluster);
      for (let index = 0; index < 50_000; index++) submit(`account ${index % 10}`, index);
      submit("account 3", "too much");
      submit("another", "too much");
      await Promise.resolve();
      await Promise.resolve();
      expect(outcomes).toEqual(["account 3", "another"].map((name) => `${name}:too much LedgerUnavailableError`));
      await turn();
      submit("another", "in the room of one that is under way");
      expect(sent[0]?.names).toEqual(["account 0:0"]);
      sent[0]?.succeed();
      await turn();
      expect(outcomes.slice(2)).toEqual(["account 0:0 done"]);
    },
  );

  it("counts none twice that goes over to a queue of its account", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 2, inFlight: 1 });
    for (let index = 0; index < 40_000; index++) submit(`account ${index % 10}`, index);
    await turn();
    sent[0]?.fail(new Error("CROSSSLOT Keys in request don't hash to the same slot"));
    await turn();
    for (let index = 0; index < 10_000; index++) submit(`later account ${index % 10}`, index);
    await turn();
    expect(outcomes).toEqual([]);
  });

  it("sends the operations of an account again of which only some expired holds have ended, before later ones", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 16, inFlight: 1 });
    for (const name of ["a:0", "b:0", "a:1"]) submit(...(name.split(":") as [string, string]));
    await turn();
    submit("a", 2);
    sent[0]?.succeed({ "a:0": "again", "a:1": "again" });
    await turn();
    await turn();
    expect(sent[1]?.names).toEqual(["a:0", "a:1", "a:2"]);
    sent[1]?.succeed();
    await turn();
    expect(outcomes).toEqual(["b:0 done", "a:0 done", "a:1 done", "a:2 done"]);
  });

  it("fails what waited all the time while a script got no response, and sends what came later", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 1, inFlight: 1 });
    submit("a", 0);
    submit("a", 1);
    submit("b", 1);
    await turn();
    submit("b", 2);
    sent[0]?.fail(new TimeLimitError("too late"));
    await turn();
    await turn();
    expect(outcomes.sort()).toEqual(["a:0", "a:1", "b:1"].map((name) => `${name} LedgerUnavailableError`));
    expect(sent[1]?.names).toEqual(["b:2"]);
  });

  it("fails a script that is lost, and sends what waits", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 1, inFlight: 1 });
    submit("a", 0);
    submit("a", 1);
    await turn();
    sent[0]?.fail(new Error("connection lost"));
    await turn();
    await turn();
    expect(outcomes).toEqual(["a:0 LedgerUnavailableError"]);
    expect(sent[1]?.names).toEqual(["a:1"]);
  });

  it("keeps accounts apart on a cluster: one that hangs holds up no other", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 2, inFlight: 1 }, true);
    for (let index = 0; index < 4; index++) for (const name of ["hangs", "works"]) submit(name, index);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([
      ["hangs:0", "hangs:1", "hangs:2"],
      ["works:0", "works:1", "works:2"],
    ]);
    sent[1]?.succeed();
    await turn();
    await turn();
    expect(sent[2]?.names).toEqual(["works:3"]);
    expect(outcomes).toEqual(["works:0 done", "works:1 done", "works:2 done"]);
  });

  it("goes over to a script for each account, for good, where Redis refuses several slots", async () => {
    const { sent, submit, outcomes } = setUp({ operations: 3, inFlight: 1 });
    for (const name of ["a:0", "b:0", "a:1", "c:0", "c:1"]) submit(...(name.split(":") as [string, string]));
    await turn();
    expect(sent[0]?.names).toHaveLength(3);
    sent[0]?.fail(new Error("CROSSSLOT Keys in request don't hash to the same slot"));
    await turn();
    await turn();
    expect(sent.slice(1).map(({ names }) => names)).toEqual([["a:0", "a:1"], ["b:0"], ["c:0", "c:1"]]);
    for (const script of sent.slice(1)) script.succeed();
    submit("a", 2);
    submit("b", 1);
    await turn();
    await turn();
    const [ofA, ofB] = ["a:2", "b:1"].map((name) => sent.slice(4).find(({ names }) => names.join() === name));
    // Where it is one account's, it is the fault of its keys.
    ofA?.fail(new Error("CROSSSLOT"));
    ofB?.succeed();
    await turn();
    expect(outcomes.sort()).toEqual(
      ["a:0 done", "a:1 done", "a:2 LedgerUnavailableError", "b:0 done", "b:1 done", "c:0 done", "c:1 done"].sort(),
    );
  });

  it("is idle at once where nothing was ever sent", async () => {
    for (const isCluster of [false, true]) await setUp({ operations: 1, inFlight: 1 }, isCluster).lanes.idle();
  });

  it("reports what fails as an unavailable ledger with its cause", async () => {
    const { lanes, sent } = setUp({ operations: 1, inFlight: 1 });
    const outcome = lanes
      .submit({ account: "a", keys: { names: [], packed: "" }, text: "" })
      .catch((error: unknown) => error);
    await turn();
    const cause = new Error("lost");
    sent[0]?.fail(cause);
    const error = (await outcome) as Error;
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error.cause).toBe(cause);
  });
});
