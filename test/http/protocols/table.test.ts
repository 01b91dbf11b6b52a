import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationNames } from "../../../src/prices/operation-name.js";
import type { Price } from "../../../src/prices/price.js";
import { isOwnedMember, operations } from "../../../src/protocols/operations.js";
import { type ModelType, modelTypes } from "../../../src/protocols/shared/model-type.js";
import type { Operation } from "../../../src/protocols/shared/operation.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { matchPath } from "../../../src/server/paths.js";
import { pageOf } from "../../meta/examples/documentation.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { smallestRequests } from "./fixtures/smallest-requests.js";

const strict = openAICompatible({
  baseURL: "http://127.0.0.1:9/v1",
  operations: operationNames,
  dialect: { strictMembers: true },
});

/** The smallest price that a model of this type can have. */
function priceOf(type: ModelType): Price {
  const terms = operations
    .filter(({ modelTypes: types }) => types.includes(type))
    .flatMap(({ priced }) => priced.required[0]);
  return Object.fromEntries(terms.map((term) => [term, term === "images" ? [{ credits: 1 }] : 1]));
}

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway({
    providers: { strict },
    models: modelTypes.map((type) => ({
      ...{ id: `acme/${type}`, type, contextLength: 1000, price: priceOf(type) },
      upstream: { provider: "strict", model: type },
    })),
  });
});
afterAll(() => test.close());

function takesFormsAlone(operation: Operation | undefined): boolean {
  try {
    operation?.checkContentType("application/json");
    return false;
  } catch {
    return true;
  }
}

function formOf(members: object): FormData {
  const form = new FormData();
  form.set("file", new Blob(["sound"]), "sound.wav");
  for (const [name, value] of Object.entries(members)) form.set(name, String(value));
  return form;
}

async function refusal(path: string, members: object) {
  const takesForms = takesFormsAlone(operations.find(({ paths }) => paths.includes(path)));
  const body = takesForms ? formOf(members) : JSON.stringify(members);
  const headers = { authorization: "Bearer sk-pro", ...(!takesForms && { "content-type": "application/json" }) };
  const response = await test.gateway.handler(
    new Request(`http://gateway.test${path}`, { method: "POST", headers, body }),
  );
  const { error } = (await response.json()) as { error: { param: string | null; message: string } };
  return { status: response.status, param: error.param ?? null, message: error.message };
}

describe.each(operations)("the operation $name", ({ name, paths, modelTypes: types, names }) => {
  const [path = ""] = paths;
  const smallest = { model: `acme/${types[0]}`, ...smallestRequests[name] };

  it("is reached by each of its paths", () => {
    expect(paths.length).toBeGreaterThan(0);
    for (const each of paths) expect(matchPath(each)).toMatchObject({ endpoint: name });
  });

  it("refuses a model of every other type, and says where it belongs", async () => {
    for (const type of modelTypes.filter((each) => !types.includes(each))) {
      const right = operations.find((each) => each.modelTypes.includes(type));
      const { status, message } = await refusal(path, { ...smallest, model: `acme/${type}` });
      expect({ status, message }).toMatchObject({
        status: 400,
        message: expect.stringContaining(`Use POST ${right?.paths[0]}`),
      });
    }
  });

  it("refuses a member that some server takes for one that it reads", async () => {
    for (const member of names.all) {
      const camel = `${member.charAt(0).toUpperCase()}${member.slice(1)}`;
      const { status, message } = await refusal(path, { ...smallest, [camel]: null });
      expect({ member, status, message }).toMatchObject({
        status: 400,
        message: expect.stringContaining(`'${member}'`),
      });
    }
  });

  it("refuses what is restricted at every server", async () => {
    const { status, message } = await refusal(path, { ...smallest, api_base: "http://evil.example" });
    expect({ status, message }).toMatchObject({ status: 400, message: expect.stringContaining("'api_base'") });
  });

  it("leaves its own members to no hook", () => {
    expect(names.owned.filter((member) => !isOwnedMember(member))).toEqual([]);
    expect(names.owned).toContain("model");
  });

  it("stands on the pages of endpoints and of upstreams", () => {
    for (const each of paths) expect(pageOf("docs/mounting.md")).toContain(`\`POST ${each}\``);
    expect(pageOf("docs/upstreams.md")).toContain(`\`${name}\``);
  });
});

it("every type of model has an operation", () => {
  for (const type of modelTypes) expect(operations.some((each) => each.modelTypes.includes(type))).toBe(true);
});
