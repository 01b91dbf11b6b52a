import { getHeapSpaceStatistics } from "node:v8";
import { collectGarbage } from "./collect-garbage.js";

/** The typings know the collector without options only. */
const collectYoung = collectGarbage as (options: { type: "minor" }) => void;

/** As many as are under way at a time. */
const atOnce = 32;

/**
 * By how many bytes the old space grows while this is called so often, with small collections between and none of the
 * whole heap: what calls leave behind although they have ended.
 */
export async function oldSpaceGrowth(times: number, call: () => Promise<unknown>): Promise<number> {
  const underWay: Promise<unknown>[] = [];
  let before = 0;
  for (let time = -times / 10; time < times; time++) {
    if (time === 0) {
      collectGarbage();
      before = oldSpace();
    }
    underWay.push(call());
    if (underWay.length > atOnce) await underWay.shift();
    if (time % 100 === 0) collectYoung({ type: "minor" });
  }
  const growth = oldSpace() - before;
  await Promise.all(underWay);
  return growth;
}

function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
