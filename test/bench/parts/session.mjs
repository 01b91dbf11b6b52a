import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Child } from "../processes/child.mjs";
import { model } from "./bodies.mjs";
import { pinning, processors } from "./processors.mjs";
import { requestHeaders } from "./variants.mjs";

const settleMs = 400;
const probes = 5;
const streamsBefore = 100;
const openTimeoutMs = 10_000;

/** @returns the upstream and the load generator of a workload, for all of its variants. */
export async function openRig(workload) {
  const upstream = new Child(script("upstream-process.mjs"), { processor: processors.upstream });
  const load = new Child(script("load-process.mjs"), { processor: processors.load });
  return {
    load,
    upstreamPort: await upstream.call("listen", { kind: workload.answer }),
    close: () => Promise.all([load.stop(), upstream.stop()]),
  };
}

/** One gateway process under one workload. */
export class Session {
  #rig;
  #gateway;
  #plan;
  #workload;
  #warmUpSeconds;

  constructor(variant, workload, rig, { warmUpSeconds, build }) {
    const own = variant.gate ? workload.gate : undefined;
    this.variant = variant;
    this.#workload = workload;
    this.#rig = rig;
    this.#warmUpSeconds = Math.max(warmUpSeconds, variant.warmUpSeconds ?? 0);
    this.#plan = {
      request: {
        path: variant.path ?? "/v1/chat/completions",
        headers: { ...requestHeaders(variant, rig.upstreamPort), ...own?.headers },
        body: workload.body.toString().replace(model, variant.model ?? model),
        accounts: variant.accounts ?? 1,
      },
      connections: workload.connections,
      expected: own?.expected ?? workload.expected,
    };
    this.#gateway = new Child(script("gateway-process.mjs"), {
      processor: processors.gateway,
      args: [variant.module ?? variant.name, String(variant.accounts ?? 1)],
      env: { INFERGATE_BUILD: variant.build ?? build },
    });
  }

  /** Starts it, and makes sure that it does what it is measured for. */
  async open() {
    const port = await this.#gateway.call("start", { upstreamPort: this.#rig.upstreamPort });
    this.#plan.port = port;
    const { request, expected } = this.#plan;
    let answer;
    // A refusal needs a first answer that uses the credits up.
    for (let probe = 0; probe < probes; probe++) {
      answer = await this.#rig.load.call("probe", {
        port,
        request,
        untilEvents: this.#workload.endless ? 3 : undefined,
      });
    }
    checkResponse(answer, expected, this.#workload);
  }

  async warmUp() {
    const connections = this.#workload.warmUpConnections ?? this.#workload.connections;
    await this.#run(this.#warmUpSeconds, { ...this.#plan, connections });
  }

  /** @returns what one round came to. */
  measure(seconds) {
    return this.#run(seconds, this.#plan);
  }

  async #run(seconds, plan) {
    const { load } = this.#rig;
    await load.call("start", plan);
    await delay(settleMs);
    const [before, marked] = await Promise.all([this.#gateway.call("sample"), load.call("mark")]);
    await delay(seconds * 1000);
    const [after, counted] = await Promise.all([this.#gateway.call("sample"), load.call("mark")]);
    await load.call("stop", { drain: !this.#workload.endless });
    if (counted.failures > 0) {
      throw new Error(`${counted.failures} failed, the first with: ${counted.firstFailure}`);
    }
    const units = this.#workload.per === "event" ? counted.events : counted.answers;
    const perSecond = units / ((counted.time - marked.time) / 1000);
    const elapsed = after.time - before.time;
    const busy = (after.cpu - before.cpu) / 1000 / elapsed;
    const others = pinning === null ? undefined : Math.max(0, (after.processor - before.processor) / elapsed - busy);
    const cpu = (busy * 1e6) / perSecond;
    return { cpu, perSecond, busy, others, ...counted.latency, ...storeFigures(before.store, after.store, units) };
  }

  memory() {
    return this.#gateway.call("memory");
  }

  /** Memory of each open stream: of so many more than the hundred that were there before. */
  async measureOpenStreams() {
    const { load } = this.#rig;
    // First, everything is loaded and the heap has got its size.
    for (let pass = 0; pass < 3; pass++) {
      await this.#openStreams(streamsBefore);
      await load.call("stop", { drain: false });
      await delay(settleMs);
    }
    await this.#openStreams(streamsBefore);
    const before = await this.memory();
    const opened = this.#plan.connections;
    await this.#openStreams(opened);
    const after = await this.memory();
    await load.call("stop", { drain: false });
    return { rss: (after.rss - before.rss) / opened, heap: (after.heap - before.heap) / opened };
  }

  /** Opens further streams, and waits until each has brought all that it will bring. */
  async #openStreams(connections) {
    const { load } = this.#rig;
    await load.call("start", { ...this.#plan, connections });
    let missing = connections * this.#workload.eventsOfStream;
    for (let waited = 0; missing > 0; waited += settleMs) {
      await delay(settleMs);
      const { events, failures, firstFailure } = await load.call("mark");
      if (failures > 0) throw new Error(`${failures} failed, the first with: ${firstFailure}`);
      missing -= events;
      if (waited > openTimeoutMs) throw new Error(`${missing} events of ${connections} streams did not come.`);
    }
  }

  /** Runs the workload under the profiler. */
  async profile({ seconds, intervalUs, file }) {
    await this.#rig.load.call("start", this.#plan);
    await delay(settleMs);
    await this.#gateway.call("startProfile", { intervalUs });
    await delay(seconds * 1000);
    await this.#gateway.call("stopProfile", { file }, { timeoutMs: 60_000 });
    await this.#rig.load.call("stop", { drain: !this.#workload.endless });
  }

  close() {
    return this.#gateway.stop();
  }

  /** Ends it in the middle of a round. */
  async abandon() {
    await this.#rig.load.call("stop", { drain: false });
    await this.close();
  }
}

/** What each unit took of the ledger's store, where that is a server of its own. */
function storeFigures(before, after, units) {
  if (before === undefined) return {};
  return { storeCpu: (after.cpu - before.cpu) / units, scripts: (after.scripts - before.scripts) / units };
}

function checkResponse({ head, body }, expected, workload) {
  const status = head.slice(9, 12);
  const fault =
    status !== expected.status
      ? `status ${status} instead of ${expected.status}`
      : status === "200" && !workload.endless && !/"total_tokens":[1-9]/.test(body)
        ? "no usage in the answer"
        : undefined;
  if (fault !== undefined) throw new Error(`${fault}: ${body.slice(0, 1000)}`);
}

function script(name) {
  return fileURLToPath(new URL(`../processes/${name}`, import.meta.url));
}
