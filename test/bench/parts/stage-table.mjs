import { createHook } from "node:async_hooks";
import { Session } from "node:inspector/promises";
import { timeOf } from "./count-call.mjs";
import { placeOf } from "./profile-report.mjs";
import { stageOf } from "./stages.mjs";

/** The engine's own work, which it does for nobody. */
const ownWork = new Map([
  ["(garbage collector)", "garbage collection"],
  ["runMicrotasks", "promises that go on"],
]);
const theCaller = "the caller and its provider";
const deepestStack = 60;

/** @returns the stages of a call, each with its time in microseconds, its bytes and its promises. */
export async function stageTable(call, calls) {
  const session = new Session();
  session.connect();
  const shares = await sharesOf(session, call, calls);
  const bytes = await bytesOf(session, call, calls);
  session.disconnect();
  const promises = await promisesOf(call);
  // What else the machine does stretches the samples, but not the processor time.
  const time = await timeOf(call, calls);
  const names = new Set([...shares.keys(), ...bytes.keys(), ...promises.keys()]);
  return [...names]
    .map((name) => ({
      name,
      time: (shares.get(name) ?? 0) * time,
      bytes: bytes.get(name) ?? 0,
      promises: promises.get(name) ?? 0,
    }))
    .sort((one, other) => other.time - one.time);
}

/** The parts of the time, by the samples of a profile. */
async function sharesOf(session, call, calls) {
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 100 });
  await session.post("Profiler.start");
  for (let count = 0; count < calls; count++) await call();
  const { profile } = await session.post("Profiler.stop");
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const shares = new Map();
  for (const [index, id] of profile.samples.entries()) {
    const name = nodes.get(id).callFrame.functionName;
    if (name === "(idle)" || name === "(root)") continue;
    const frames = [];
    for (let at = id; at !== undefined; at = parents.get(at)) frames.push(nodes.get(at).callFrame);
    add(shares, ownWork.get(name) ?? stageOfStack(frames), profile.timeDeltas[index]);
  }
  const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
  for (const [stage, share] of shares) shares.set(stage, share / total);
  return shares;
}

/** By the samples of allocations, those that are collected again among them. */
async function bytesOf(session, call, calls) {
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: 256,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  for (let count = 0; count < calls; count++) await call();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  const bytes = new Map();
  const visit = ({ callFrame, selfSize, children }, callers) => {
    const frames = [callFrame, ...callers];
    if (selfSize > 0) add(bytes, stageOfStack(frames), selfSize / calls);
    for (const child of children) visit(child, frames);
  };
  visit(profile.head, []);
  return bytes;
}

/** By who makes them. One call is enough: they are always as many. */
async function promisesOf(call) {
  const stacks = [];
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") stacks.push(callSites());
    },
  });
  await call();
  hook.enable();
  await call();
  hook.disable();
  const promises = new Map();
  for (const stack of stacks) add(promises, stageOfStack(stack), 1);
  return promises;
}

function callSites() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = deepestStack;
  Error.prepareStackTrace = (_error, sites) =>
    sites
      .filter((site) => !site.isAsync())
      .map((site) => ({
        url: site.getFileName() ?? "",
        lineNumber: (site.getLineNumber() ?? 1) - 1,
        columnNumber: (site.getColumnNumber() ?? 1) - 1,
      }));
  const { stack } = new Error("");
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return stack;
}

/** The stage of the innermost frame that has one. */
function stageOfStack(frames) {
  for (const { url, lineNumber, columnNumber } of frames) {
    const stage = url.startsWith("file:") ? stageOf(placeOf(url, lineNumber, columnNumber)) : undefined;
    if (stage !== undefined) return stage;
  }
  return theCaller;
}

function add(sums, name, amount) {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}
