import { isRecord } from "../../wire/is-record.js";

/** The faults that a server found when it validated a request against a schema. */
interface ValidationFaults {
  message: string;
  /** The path of the first fault, with dots. */
  param: string | null;
}

/** More faults would be too long to read. */
const mostFaults = 3;

/** So much of an error's text is looked at, in characters. */
export const mostErrorText = 65_536;

/**
 * Reads FastAPI's list of faults (`{"detail":[{"loc":["body","n"],"msg":"…"}]}`), and the forms in which servers wrap
 * it. `message` is the list, contains it, or contains it as JSON text.
 *
 * @returns `undefined` when there is no such list.
 */
export function readFaults(error: unknown): ValidationFaults | undefined {
  if (!isRecord(error)) return undefined;
  const list = listIn(error["detail"]) ?? listIn(error["message"]) ?? listIn(parsed(error["message"]));
  const [first] = list ?? [];
  if (list === undefined || first === undefined) return undefined;
  const message = list.slice(0, mostFaults).map(describe).join("; ").slice(0, mostErrorText);
  return { message, param: pathOf(first) };
}

interface Fault {
  loc: readonly unknown[];
  msg: string;
}

function listIn(value: unknown): Fault[] | undefined {
  const list = isRecord(value) ? value["detail"] : value;
  return Array.isArray(list) && list.length > 0 && list.every(isFault) ? list : undefined;
}

function isFault(value: unknown): value is Fault {
  return isRecord(value) && Array.isArray(value["loc"]) && typeof value["msg"] === "string";
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string" || text.length > mostErrorText || !text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(fault: Fault): string {
  const path = pathOf(fault);
  return path === null ? fault.msg : `${path}: ${fault.msg}`;
}

/** `["body","messages",0,"user","name"]` becomes `messages[0].user.name`. */
function pathOf({ loc }: Fault): string | null {
  const steps = loc[0] === "body" ? loc.slice(1) : loc;
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (typeof step === "string") path += path === "" ? step : `.${step}`;
  }
  return path === "" ? null : path.slice(0, 200);
}
