import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** So that what is measured of memory is what is still held. */
export const collectGarbage: () => void = runInNewContext("gc");
