import { describe, it } from "vitest";
import { messagesProperties } from "../../../support/translate/messages-properties.js";

describe("whatever is said", () => {
  it.each(Object.entries(messagesProperties))("%s", (_name, property) => property(100));
});
