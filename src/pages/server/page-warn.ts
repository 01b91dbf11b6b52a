import type { Warn } from "../../events/warning.js";
import { consoleWarn } from "../../gateway/console-warn.js";
import { callHook } from "../../host-code/call-hook.js";
import type { PageOptions } from "./page-options.js";

/** Tells the host what it should know. If its hook fails, there is no other place to report it. */
export function pageWarn(onWarning: PageOptions<unknown>["onWarning"]): Warn {
  if (onWarning === undefined) return consoleWarn;
  return (warning) =>
    callHook(
      () => onWarning(warning),
      () => {},
    );
}
