import { toAnswer } from "./answer.js";

let answer: ReturnType<typeof toAnswer> | undefined;

/** A worker has its configuration with its first request. */
export default {
  fetch(request: Request, { CONFIG }: { CONFIG: string }): Promise<Response> {
    answer ??= toAnswer(CONFIG);
    return answer(request);
  },
};
