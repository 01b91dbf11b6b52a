import { isFinalRefusal } from "../../errors/final-refusal.js";
import { missingKey } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import { openAIErrorBody } from "../../openai/openai-error-body.js";
import type { ClientProtocol } from "./client-protocol.js";

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
const bearer = /^bearer +[A-Za-z0-9._~+/=-]+ *$/i;
const scheme = "bearer";

const missing = (message: string) => RepeatedError.of(missingKey(message));
const noKey = missing("You did not provide an API key. Send it as a header: Authorization: Bearer YOUR_KEY.");
const malformed = missing("The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY.");

/** The family of OpenAI's clients. */
export const openAIProtocol: ClientProtocol = {
  credential(request) {
    const authorization = request.header("authorization");
    if (authorization === undefined || authorization.trim() === "") {
      throw noKey;
    }
    // Two headers arrive joined by a comma, and are refused for it.
    if (!bearer.test(authorization)) {
      throw malformed;
    }
    return authorization.slice(scheme.length).trim();
  },
  errorBody: openAIErrorBody,
  // Some clients repeat every refusal but a 400, unless a header tells them not to.
  errorHeaders: ({ status, headers }) =>
    isFinalRefusal(status) && status !== 400 ? { "x-should-retry": "false", ...headers } : headers,
  modelRecord: ({ record }) => record,
  modelList: (models) => `{"object":"list","data":[${models.map(({ record }) => record).join(",")}]}`,
};
