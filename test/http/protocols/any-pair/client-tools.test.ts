import { Agent, applyPatchTool, OpenAIResponsesModel, Runner, shellTool } from "@openai/agents";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { responses } from "../../../../src/protocols/responses/responses.js";
import { plainModel } from "../../../support/operations/responses/exchange-of.js";
import type { SaidCall } from "../../../support/operations/responses/response-samples.js";
import { ownSeal } from "../../../support/own-seal.js";
import { mostRealTokens } from "../../../support/real-tokenizers.js";
import { honest, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

type Target = Exclude<Spoken, "responses">;
const targets: readonly Target[] = ["chat/completions", "messages"];
const local = { type: "shell", environment: { type: "local" } };

/** The names of the functions that the target was sent. */
function names(sent: Record<string, unknown>): unknown[] {
  return ((sent["tools"] ?? []) as { name?: string; function?: { name: string } }[]).map(
    ({ name, function: called }) => called?.name ?? name,
  );
}

const cases: { name: string; tool: object; args: object | string; item: object }[] = [
  {
    name: "shell",
    tool: local,
    args: { commands: ["ls -l", "pwd"], timeout_ms: 500 },
    item: { type: "shell_call", action: { commands: ["ls -l", "pwd"], timeout_ms: 500, max_output_length: null } },
  },
  {
    name: "local_shell",
    tool: { type: "local_shell" },
    args: { command: ["ls", "-l"], working_directory: "/tmp" },
    item: {
      type: "local_shell_call",
      action: { type: "exec", command: ["ls", "-l"], env: {}, working_directory: "/tmp" },
    },
  },
  {
    name: "apply_patch",
    tool: { type: "apply_patch" },
    args: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
    item: { type: "apply_patch_call", operation: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" } },
  },
  {
    name: "apply_patch",
    tool: { type: "apply_patch" },
    args: "not JSON",
    item: { type: "apply_patch_call", operation: { type: "update_file", path: "", diff: expect.any(String) } },
  },
];

const callOf = ({ name, args }: { name: string; args: object | string }): SaidCall => ({
  id: "call_1",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});

async function read(
  response: Response,
  stream: boolean,
): Promise<{ output: Record<string, unknown>[]; events: Record<string, unknown>[] }> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  if (!stream) return { output: JSON.parse(text).output, events: [] };
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? ""));
  return { output: events.at(-1)?.response.output, events };
}

describe.each(targets)("tools of OpenAI's that the client runs, on %s,", (target) => {
  it.each(cases.slice(0, target === "messages" ? 3 : 4))("$name $args, whole and streamed", async (each) => {
    pair = await startPair("responses", target);
    pair.server.reply(honest(target, { calls: [callOf(each)] }));
    for (const stream of [false, true]) {
      const { output, events } = await read(await pair.post({ tools: [each.tool], stream }), stream);
      expect(names(pair.sent())).toEqual([each.name]);
      expect(output).toMatchObject([{ ...each.item, call_id: "call_1", status: "completed" }]);
      if (!stream) continue;
      const done = events.find(({ type }) => type === "response.output_item.done");
      const added = events.find(({ type }) => type === "response.output_item.added");
      expect(done).toMatchObject({ item: output[0] });
      expect(added).toMatchObject({ item: { id: output[0]?.["id"], status: "in_progress" } });
    }
  });

  it("stand in the history under the names that they have as functions", async () => {
    pair = await startPair("responses", target);
    const input = [
      { role: "user", content: "Go" },
      { type: "shell_call", call_id: "a", action: { commands: ["ls"] }, status: "completed" },
      {
        type: "shell_call_output",
        call_id: "a",
        output: [{ stdout: "x.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
      },
      { type: "local_shell_call", id: "lsh_1", call_id: "b", action: { type: "exec", command: ["ls"], env: {} } },
      { type: "local_shell_call_output", id: "b", output: "y.txt" },
      { type: "apply_patch_call", call_id: "c", operation: { type: "delete_file", path: "z" }, status: "completed" },
      { type: "apply_patch_call_output", call_id: "c", status: "failed" },
    ];
    // A function of the client's own has one of the names.
    const own = { type: "function", name: "shell", parameters: {}, strict: false };
    const { status } = await pair.post({
      input,
      tools: [own, local, { type: "local_shell" }, { type: "apply_patch" }],
    });
    expect(status).toBe(200);
    const [, second] = names(pair.sent());
    expect(second).toMatch(/^shell_\w+$/);
    const sent = JSON.stringify(pair.sent()["messages"]);
    expect(sent).toContain(`"name":"${second}"`);
    for (const word of ["x.txt", "y.txt", "local_shell", "delete_file", "failed"]) expect(sent).toContain(word);
    expect(sent).not.toMatch(/no (?:output|result)/);
  });

  it("can be chosen", async () => {
    pair = await startPair("responses", target);
    await pair.post({ tools: [local, { type: "apply_patch" }], tool_choice: { type: "apply_patch" } });
    expect(JSON.stringify(pair.sent()["tool_choice"])).toContain("apply_patch");
  });

  it.each([
    ["a container", { type: "shell", environment: { type: "container_auto" } }],
    ["nobody knows where", { type: "shell" }],
    ["two places", '{"type":"shell","environment":{"type":"local","type":"container_auto"}}'],
  ])("are not a shell in %s", async (_name, tool) => {
    pair = await startPair("responses", target);
    const text = typeof tool === "string" ? tool : JSON.stringify(tool);
    const response = await pair.gateway.handler(
      new Request("http://gateway.test/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: `{"model":"acme/small","input":"Hi","tools":[${text}]}`,
      }),
    );
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "unsupported_tool" } }]);
  });

  it("run in OpenAI's agents, and their results go back", async () => {
    pair = await startPair("responses", target);
    const { gateway, server } = pair;
    const said = [
      { calls: [callOf({ name: "shell", args: { commands: ["ls"] } })] },
      {
        calls: [
          { ...callOf({ name: "apply_patch", args: { type: "create_file", path: "a", diff: "+x" } }), id: "call_2" },
        ],
      },
      { text: "Done." },
    ];
    for (const one of said) server.replyOnce(honest(target, one));
    const client = new OpenAI({
      apiKey: "sk-pro",
      baseURL: "http://gateway.test/v1",
      maxRetries: 0,
      fetch: (url, init) => gateway.handler(new Request(url, init)),
    });
    const ran: unknown[] = [];
    const shell = {
      run: async ({ commands }: { commands: string[] }) => {
        ran.push(commands);
        return { output: [{ stdout: "x.txt", stderr: "", outcome: { type: "exit" as const, exitCode: 0 } }] };
      },
    };
    const edited = async (operation: unknown) => {
      ran.push(operation);
      return { status: "completed" as const, output: "made" };
    };
    const editor = { createFile: edited, updateFile: edited, deleteFile: edited };
    const agent = new Agent({
      name: "Worker",
      model: new OpenAIResponsesModel(client as never, "acme/small"),
      tools: [shellTool({ shell }), applyPatchTool({ editor })],
    });
    const result = await new Runner({ tracingDisabled: true }).run(agent, "Go");
    expect(result.finalOutput).toBe("Done.");
    expect(ran).toMatchObject([["ls"], { type: "create_file", path: "a", diff: "+x" }]);
    expect(JSON.stringify(pair.sent()["messages"])).toMatch(/x\.txt.*made/);
  });
});

describe("image_generation, which Cline lists in every request,", () => {
  const cline = [{ type: "web_search" }, { type: "image_generation", output_format: "png" }];
  const read = { type: "function", name: "read", parameters: {}, strict: false };

  it.each(["chat/completions", "responses", "messages"] as const)("does not reach %s", async (target) => {
    pair = await startPair("responses", target);
    expect((await pair.post({ tools: [...cline, read] })).status).toBe(200);
    expect(names(pair.sent())).toEqual(["read"]);
  });
});

describe("a choice among tools of which some are left out, at a server of Responses,", () => {
  const read = { type: "function", name: "read", parameters: {}, strict: false };
  const tools = [{ type: "image_generation" }, { type: "web_search" }, local, { type: "apply_patch" }, read];
  const allowed = (...listed: object[]) => ({ type: "allowed_tools", mode: "required", tools: listed });

  it.each([
    ["one that stays", { type: "shell" }, { type: "shell" }],
    ["one that is left out", { type: "image_generation" }, "auto"],
    ["one that was never there", { type: "web_search_preview" }, "auto"],
    [
      "several",
      allowed({ type: "web_search" }, { type: "shell" }, { type: "function", name: "read" }),
      allowed({ type: "shell" }, { type: "function", name: "read" }),
    ],
    ["those that stay", allowed({ type: "apply_patch" }), allowed({ type: "apply_patch" })],
    ["those that are left out", allowed({ type: "image_generation" }, { type: "web_search" }), "none"],
    ["any", "required", "required"],
  ])("of %s", async (_name, chosen, sent) => {
    pair = await startPair("responses", "responses");
    expect((await pair.post({ tools, tool_choice: chosen })).status).toBe(200);
    expect(pair.sent()["tools"]).toEqual([local, { type: "apply_patch" }, read]);
    expect(pair.sent()["tool_choice"]).toEqual(sent);
  });

  it("of one that its operator lets go", async () => {
    pair = await startPair("responses", "responses", { model: { allowMembers: ["web_search"] } });
    expect((await pair.post({ tools, tool_choice: { type: "web_search" } })).status).toBe(200);
    expect(pair.sent()["tool_choice"]).toEqual({ type: "web_search" });
  });
});

it("holds what a translation says of such tools", async () => {
  pair = await startPair("responses", "chat/completions");
  const held = async (members: object) => {
    const body = Buffer.from(JSON.stringify({ model: "acme/small", input: "Hi", ...members }));
    const services = { maxBodyDepth: 64, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal };
    const request = await responses.parse(body, services, { account: "a", header: () => undefined });
    return request.demand(plainModel, 100).heldPromptTokens;
  };
  for (const { tool } of cases) {
    await pair.post({ tools: [tool] });
    const described = JSON.stringify(pair.sent()["tools"], null, 2);
    expect((await held({ tools: [tool] })) - (await held({}))).toBeGreaterThanOrEqual(mostRealTokens(described).tokens);
  }
});
