import type { Model } from "../../../src/gateway/models/model.js";

/** The model of the gateways in other processes: 1 micro-credit a prompt token, 10 an output token. */
export const chatModel: Model = {
  id: "acme/small",
  type: "chat",
  contextLength: 8192,
  maxOutputTokens: 100,
  price: { input: 1, output: 10 },
  upstream: { provider: "fake", model: "upstream-small" },
};

/** The same, of which the operator pays 1 and 4 micro-credits. */
export const costedModel: Model = {
  ...chatModel,
  id: "acme/costed",
  upstream: { provider: "fake", model: "upstream-small", cost: { input: 1, output: 4 } },
};
