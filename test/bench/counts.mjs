// What a call allocates, and how many promises it makes, which no noise of a machine moves: in process, against a provider
// in the same process. It fails where a count exceeds the one on file by more than 5 %.
// node test/bench/counts.mjs [--only W1] [--update]

import { createHook } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { callerOf, gatewayFor } from "./parts/in-process-gateway.mjs";
import { inProcessWorkloads } from "./parts/in-process-workloads.mjs";

const { values } = parseArgs({
  options: { only: { type: "string" }, update: { type: "boolean" }, measure: { type: "string" } },
});
const file = fileURLToPath(new URL("results/counts.json", import.meta.url));
const dist = new URL("../../dist/index.js", import.meta.url);
/** A count may exceed the one on file by so much. */
const tolerance = 1.05;
/** Enough calls for the compiler to be done with the code. */
const warmUp = { whole: 4000, long: 300 };
const measured = { whole: 400, long: 40 };
const rounds = 5;

/** In a process of its own, in which nothing is collected while a round is measured. */
function countsOf(name) {
  const flags = ["--expose-gc", "--single-threaded-gc", "--max-semi-space-size=256", "--min-semi-space-size=256"];
  const output = execFileSync(process.execPath, [...flags, fileURLToPath(import.meta.url), "--measure", name], {
    encoding: "utf8",
  });
  return JSON.parse(output);
}

async function measure(name) {
  const workload = inProcessWorkloads[name];
  const gateway = gatewayFor(workload, await import(dist.href));
  const call = callerOf(gateway, workload);
  const size = workload.calls < 1000 ? "long" : "whole";
  for (let count = 0; count < warmUp[size]; count++) await call();
  const bytes = [];
  for (let round = 0; round < rounds; round++) bytes.push(await bytesOf(call, measured[size]));
  const promises = await promisesOf(call, measured[size]);
  await gateway.close();
  return { bytes: Math.min(...bytes), promises };
}

async function bytesOf(call, calls) {
  // What is freed beside the heap is freed a while after the collection.
  globalThis.gc();
  await setTimeout(20);
  globalThis.gc();
  const before = allocated();
  for (let count = 0; count < calls; count++) await call();
  return Math.round((allocated() - before) / calls);
}

function allocated() {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Those of the caller itself are among them: the promise of its call, and the wait for it. */
async function promisesOf(call, calls) {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") promises++;
    },
  });
  await call();
  hook.enable();
  for (let count = 0; count < calls; count++) await call();
  hook.disable();
  return Math.round(promises / calls);
}

function compare(names) {
  const known = JSON.parse(readFileSync(file, "utf8"));
  const grown = [];
  for (const name of names) {
    const found = countsOf(name);
    const { bytes = Number.POSITIVE_INFINITY, promises = Number.POSITIVE_INFINITY } = known[name] ?? {};
    console.log(`${name}  ${found.bytes} bytes, ${found.promises} promises (on file: ${bytes}, ${promises})`);
    if (found.bytes > bytes * tolerance || found.promises > promises * tolerance) grown.push(name);
    known[name] = found;
  }
  if (values.update) writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`);
  else if (grown.length > 0) {
    console.error(
      `These calls have become dearer: ${grown.join(", ")}. Mend it, or run --update and say why in the commit.`,
    );
    process.exitCode = 1;
  }
}

if (values.measure !== undefined) console.log(JSON.stringify(await measure(values.measure)));
else compare(Object.keys(inProcessWorkloads).filter((name) => values.only === undefined || values.only === name));
