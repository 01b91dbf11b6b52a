import { openRig, Session } from "./session.mjs";
import { shuffled } from "./statistics.mjs";

/**
 * Runs one workload: all variants take turns, in another order each round, so that a slow minute of the machine hits
 * them alike. Each measurement has a process of its own. One that stood idle while the others had their turns would have
 * been told by V8 to spare memory, for the rest of its life: large bodies then cost it a full garbage collection for every
 * few dozen requests. One that has held streams does not give all of their memory back.
 * @returns by variant the `rounds`, and an `error` for one that had to be left out.
 */
export async function runWorkload(workload, variants, options, progress) {
  const results = Object.fromEntries(variants.map(({ name }) => [name, { rounds: [] }]));
  const remaining = new Set(variants);
  const rig = await openRig(workload);
  try {
    for (let round = 1; round <= options.rounds; round++) {
      for (const variant of shuffled(remaining)) {
        progress(`${workload.name} round ${round} of ${options.rounds}: ${variant.name}`);
        const session = new Session(variant, workload, rig, options);
        try {
          await session.open();
          results[variant.name].rounds.push(await measure(session, workload, options));
          await session.close();
        } catch (error) {
          // One that fails is left out; the others go on.
          results[variant.name] = { rounds: [], error: error.message };
          remaining.delete(variant);
          await session.abandon();
        }
      }
    }
  } finally {
    await rig.close();
  }
  return results;
}

async function measure(session, workload, { seconds }) {
  if (workload.memory) return session.measureOpenStreams();
  await session.warmUp();
  const round = await session.measure(seconds ?? workload.seconds);
  return { ...round, ...(await session.memory()) };
}
