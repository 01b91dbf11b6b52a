import { useState } from "preact/hooks";
import type { OperatorCheck } from "../../operator/operator-page-api.js";
import { callApi } from "../parts/api.js";
import { Question } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { fill } from "../parts/texts.js";
import { ChangeForm, type FormField, FormInput, type FormValues, linesOf } from "./change-form.js";
import { texts } from "./settings.js";

type Data = Readonly<Record<string, unknown>>;

/** A member of a plan or a model that has a field of its own. */
export interface DataField extends Omit<FormField, "name"> {
  /** Such as `credits.month`. */
  readonly path: string;
}

interface DocumentFormProps {
  readonly kind: "plan" | "model";
  readonly title: string;
  /** What is there, or what a new one begins with. */
  readonly data: Data;
  /** `null`: there is none yet. */
  readonly version: string | null;
  readonly fields: readonly DataField[];
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Edits a plan or a model: by fields, or as the text that it is. It is checked before it applies. */
export function DocumentForm({ kind, title, data, version, fields, onDone, onClose }: DocumentFormProps) {
  const [text, setText] = useState(() => written(data));
  const [check, setCheck] = useState<OperatorCheck>();
  const draft = parsed(text);
  if (check !== undefined) {
    const send = async ({ note = "" }: FormValues) => {
      await callApi(kind, { method: "PUT", body: { [kind]: draft, note }, headers: precondition(version) });
      await onDone();
    };
    return (
      <ChangeForm title={title} action={texts.apply} send={send} onClose={onClose}>
        <Changes check={check} />
        <div>
          <button type="button" onClick={() => setCheck(undefined)}>
            ← {texts.task_edit}
          </button>
        </div>
      </ChangeForm>
    );
  }
  const act = async () => {
    if (draft === undefined) throw new Error(texts.noJson);
    const found = await callApi<OperatorCheck>(`${kind}s/check`, { method: "POST", body: { [kind]: draft } });
    if (found.problems.length > 0) throw new Error(found.problems.join("\n"));
    setCheck(found);
  };
  return (
    <Question title={title} action={texts.check} act={act} onClose={onClose} staysOpen>
      {draft !== undefined &&
        fields.map(({ path, ...field }) => (
          <FormInput
            key={path}
            field={{ ...field, name: path }}
            value={toText(valueAt(draft, path))}
            onChange={(value) => setText(written(withValue(draft, path, fromText(value, field.kind))))}
          />
        ))}
      <details open={draft === undefined}>
        <summary>{texts.asJson}</summary>
        <Field label={texts.json} hint={texts.jsonHint} error={draft === undefined ? texts.noJson : undefined}>
          {(binding) => (
            <textarea
              {...binding}
              class="code"
              rows={14}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
      </details>
    </Question>
  );
}

/** What a change of this version is sent with. */
export function precondition(version: string | null): Record<string, string> {
  return version === null ? { "if-none-match": "*" } : { "if-match": `"${version}"` };
}

function Changes({ check: { changes, models, warnings } }: { readonly check: OperatorCheck }) {
  return (
    <div class="stack">
      {changes.length === 0 && <p>{texts.noChanges}</p>}
      {changes.map(({ member, before, after }) => (
        <div key={member}>
          <h3>{member}</h3>
          {before !== undefined && <del>{JSON.stringify(before)}</del>}{" "}
          {after !== undefined && <ins>{JSON.stringify(after)}</ins>}
        </div>
      ))}
      {warnings.map((warning) => (
        <p key={warning} class="notice warning">
          {warning}
        </p>
      ))}
      {models && <p class="muted">{fill(texts.matches, { count: models.length, models: models.join(", ") })}</p>}
    </div>
  );
}

function written(data: Data): string {
  return JSON.stringify(data, undefined, 2);
}

function parsed(text: string): Data | undefined {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Data) : undefined;
  } catch {
    return undefined;
  }
}

function valueAt(data: Data, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Data | null | undefined)?.[name], data);
}

function withValue(data: Data, path: string, value: unknown): Data {
  const [name = "", ...rest] = path.split(".");
  const inner = rest.length === 0 ? value : withValue((data[name] ?? {}) as Data, rest.join("."), value);
  return { ...data, [name]: inner };
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.join("\n") : String(value ?? "");
}

/** What is empty is not there. */
function fromText(text: string, kind: FormField["kind"]): unknown {
  // A line that has just been begun stays.
  if (kind === "lines") return text.endsWith("\n") ? [...linesOf(text), ""] : linesOf(text);
  if (text === "") return undefined;
  return kind === "number" ? Number(text) : text;
}
