import type { Attributes } from "@opentelemetry/api";
import type { RequestCompleted } from "../events/request-completed.js";
import { names, operationOf } from "./names.js";

/** The attributes of what is measured of one call. */
interface Made {
  readonly about: Attributes;
  readonly ended: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
}

const mostKept = 2_000;

/** The attributes of calls that ended alike, made once. */
export class CallAttributes {
  readonly #kept = new Map<string, Made>();

  of(event: RequestCompleted): Made {
    const { endpoint = "", model = "", status, errorCode = "" } = event;
    const target = event.attempts.at(-1);
    const called = target?.model ?? model;
    const provider = target?.provider ?? "";
    const key = `${status}\0${endpoint}\0${model}\0${called}\0${provider}\0${errorCode}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const made = toAttributes({ operation: operationOf(endpoint), model, called, provider, status, errorCode });
    if (this.#kept.size < mostKept) this.#kept.set(key, made);
    return made;
  }
}

interface Values extends Pick<RequestCompleted, "status"> {
  readonly operation: string;
  readonly model: string;
  readonly called: string;
  readonly provider: string;
  readonly errorCode: string;
}

/** In the order of their names, since an SDK sorts them for each measurement. */
function toAttributes({ operation, model, called, provider, status, errorCode }: Values): Made {
  const ofConvention = {
    [names.operation]: operation,
    [names.provider]: provider,
    [names.requestModel]: called,
  };
  const own = { [names.model]: model };
  return {
    about: { ...ofConvention, ...own },
    ended: {
      ...(errorCode !== "" && { [names.errorType]: errorCode }),
      ...ofConvention,
      [names.status]: status,
      ...own,
    },
    input: { ...ofConvention, [names.tokenType]: "input", ...own },
    output: { ...ofConvention, [names.tokenType]: "output", ...own },
  };
}
