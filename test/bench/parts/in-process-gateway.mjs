import { Buffer } from "node:buffer";

/**
 * A gateway whose provider answers in the same process. What a workload asks for beside a plain call stands in `model`, `key`,
 * `plan`, `ledger` and `options`: members of the model, the key, the plan, the ledger's options and the gateway's.
 * @param parts - what a build of the package exports.
 */
export function gatewayFor(
  { speaks, answers, credits = 1e8, model, key, keys = [], plan, ledger, options },
  { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger },
) {
  const limits = { session: credits, week: credits, month: credits };
  return createGateway({
    models: [
      {
        id: "acme/small",
        type: "chat",
        contextLength: 128_000,
        price: { input: 1, output: 4 },
        upstream: { provider: "own", model: "small" },
        ...model,
      },
    ],
    keys: memoryKeyStore([{ key: "sk-bench", id: "bench", account: "bench", plan: "pro", ...key }, ...keys]),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: limits, ...plan } }),
    ledger: memoryCreditLedger(ledger),
    providers: {
      own: { operations: [speaks], call: async ({ stream }) => (stream ? streamed(answers) : whole(answers)) },
      // Fails as a server that has too much to do.
      busy: { operations: [speaks], call: async () => ({ ...whole({ whole: busyBytes }), status: 503 }) },
    },
    ...options,
  });
}

const busyBytes = Buffer.from('{"error":{"message":"Busy."}}');
const headers = { "content-type": "application/json" };
const whole = ({ whole }) => ({ status: 200, headers: new Headers(headers), body: pieces([whole]) });
const streamed = ({ stream }) => ({
  status: 200,
  headers: new Headers({ "content-type": "text/event-stream" }),
  body: pieces(stream),
});

async function* pieces(all) {
  yield* all;
}

const signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
const requestHeaders = { authorization: "Bearer sk-bench", "content-type": "application/json" };

/** Builds to compare with may be older: there it is a method. */
const handleOf = (gateway) => gateway[Symbol.for("infergate.handle")] ?? gateway.handle;

/** @returns what makes a call, by the workload's way. */
export function callerOf(gateway, workload) {
  const sent = { ...requestHeaders, ...workload.sends };
  if (workload.by === undefined) {
    const bodies = [workload.body].flat();
    let calls = 0;
    return () => consume(gateway, workload, bodies[calls++ % bodies.length], sent);
  }
  const init = { method: "POST", headers: requestHeaders, body: workload.body.toString() };
  const host = workload.by === "as" ? gateway.as({ account: "bench", plan: "pro", anchor: null }) : undefined;
  const url = `http://infergate.invalid/v1/${workload.operation}`;
  return async () => {
    const response = await (host === undefined ? gateway.handler(new Request(url, init)) : host.fetch(url, init));
    if (response.status !== 200) throw new Error(`${response.status}`);
    await response.arrayBuffer();
  };
}

async function consume(gateway, { operation, status = 200 }, body, sent) {
  const response = await handleOf(gateway)({
    method: "POST",
    path: `/v1/${operation}`,
    header: (name) => sent[name],
    body: async () => body,
    signal,
  });
  if (response.status !== status) throw new Error(`${response.status} ${response.body}`);
  if (typeof response.body === "object" && !(response.body instanceof Uint8Array)) for await (const _ of response.body);
}
