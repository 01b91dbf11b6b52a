import { isRecord } from "../../wire/is-record.js";
import type { ItemPrefix } from "../responses/own-items.js";
import { textObject } from "./wrapped-text.js";

/** A tool of OpenAI's own that the client runs. It has no name but its type. */
export type ClientToolKind = "shell" | "local_shell" | "apply_patch";

type Members = Readonly<Record<string, unknown>>;

interface ClientTool {
  /** What a function with the same arguments is described by. */
  readonly definition: Members;
  /** What the ids of its items begin with. */
  readonly prefix: ItemPrefix;
  /** The member of its call that says what to do. */
  readonly member: "action" | "operation";
  /** The value of that member. @param args - what the model has sent; `undefined` where it is no object. */
  readonly told: (args: Members | undefined, text: string) => Members;
}

const text = (description: string) => ({ type: "string", description });
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
const milliseconds = { type: "integer", description: "The most milliseconds that it may take" };

const tools: Readonly<Record<ClientToolKind, ClientTool>> = {
  shell: {
    prefix: "sh",
    member: "action",
    definition: {
      description: "Runs shell commands on the user's machine, and gives what each of them has written.",
      parameters: {
        type: "object",
        properties: {
          commands: texts("The commands, each a whole command line"),
          timeout_ms: milliseconds,
          max_output_length: { type: "integer", description: "The most characters of output" },
        },
        required: ["commands"],
      },
    },
    told: (args) => ({
      commands: textsIn(args?.["commands"]),
      timeout_ms: numberIn(args?.["timeout_ms"]),
      max_output_length: numberIn(args?.["max_output_length"]),
    }),
  },
  local_shell: {
    prefix: "lsh",
    member: "action",
    definition: {
      description: "Runs a command on the user's machine, and gives what it has written.",
      parameters: {
        type: "object",
        properties: {
          command: texts("The program and its arguments"),
          working_directory: text("Where to run it"),
          env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables" },
          timeout_ms: milliseconds,
        },
        required: ["command"],
      },
    },
    told: (args) => ({
      type: "exec",
      command: textsIn(args?.["command"]),
      env: textMembers(args?.["env"]),
      timeout_ms: numberIn(args?.["timeout_ms"]),
      working_directory: textIn(args?.["working_directory"]) ?? null,
      user: textIn(args?.["user"]) ?? null,
    }),
  },
  apply_patch: {
    prefix: "apc",
    member: "operation",
    definition: {
      description: "Creates, changes or deletes a file of the user's, and says whether that was possible.",
      parameters: {
        type: "object",
        properties: {
          type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
          path: text("The path of the file"),
          diff: text(
            "The change; leave it out to delete. Of a new file, each line begins with '+'. Of a change, each part begins with a line of '@@', followed by lines that begin with ' ' where they stay, '-' where they go, and '+' where they are new. There are no line numbers.",
          ),
        },
        required: ["type", "path"],
      },
    },
    told: operationOf,
  },
};

/** `undefined`: the type is of no such tool. */
export function clientToolOf(type: unknown): ClientToolKind | undefined {
  return typeof type === "string" && Object.hasOwn(tools, type) ? (type as ClientToolKind) : undefined;
}

export function clientToolDefinition(kind: ClientToolKind): Record<string, unknown> {
  return { ...tools[kind].definition };
}

export function clientToolPrefix(kind: ClientToolKind): ItemPrefix {
  return tools[kind].prefix;
}

/** What is particular to the item of a call. @param args - as the model has written them. */
export function clientToolCall(kind: ClientToolKind, args: string): Record<string, unknown> {
  const { member, told } = tools[kind];
  return { [member]: told(textObject(args), args) };
}

/** Some clients throw at any other operation. What is none fails at the client, which tells the model. */
function operationOf(args: Members | undefined, written: string): Members {
  const { type, path, diff } = args ?? {};
  const operation = { type, path: textIn(path) ?? "" };
  if (type === "delete_file") return operation;
  if (type === "create_file" || type === "update_file") return { ...operation, diff: textIn(diff) ?? "" };
  return { type: "update_file", path: textIn(path) ?? "", diff: textIn(diff) ?? written };
}

/** Careless models send one text in place of a list. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function textMembers(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
