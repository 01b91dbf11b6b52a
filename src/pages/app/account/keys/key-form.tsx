import { useState } from "preact/hooks";
import type {
  AccountKey,
  AccountKeyCredits,
  AccountKeyInput,
  AccountList,
  AccountModel,
  NewAccountKey,
} from "../../../account/account-page-api.js";
import { ApiError, callApi } from "../../parts/api.js";
import { Question } from "../../parts/dialog.js";
import { Field, TextField } from "../../parts/field.js";
import { announce } from "../../parts/live-region.js";
import { fill } from "../../parts/texts.js";
import { useApi } from "../../parts/use-api.js";
import type { ViewProps } from "../reader.js";
import { texts } from "../settings.js";

interface KeyFormProps extends Pick<ViewProps, "me"> {
  /** The key to change. Absent: a new one. */
  readonly apiKey: AccountKey | undefined;
  readonly onDone: (made?: NewAccountKey) => Promise<void>;
  readonly onClose: () => void;
}

const spans = [
  ["day", texts.perDay],
  ["week", texts.perWeek],
  ["month", texts.perMonth],
  ["total", texts.perTotal],
] as const;

/** What stands in the form, as people write it. */
interface Draft {
  name: string;
  expires: string;
  /** Empty: all of the plan. */
  models: readonly string[];
  credits: Record<(typeof spans)[number][0], string>;
  tags: string;
}

/** Makes a key, or changes one. */
export function KeyForm({ apiKey, me, onDone, onClose }: KeyFormProps) {
  const [draft, setDraft] = useState(() => draftOf(apiKey, me.tags));
  const [refusal, setRefusal] = useState<ApiError>();
  const [isWrongTag, setWrongTag] = useState(false);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const wrong = (param: string) => (refusal?.param?.split(".")[0] === param ? refusal.message : undefined);
  const act = async () => {
    const tags = toTags(draft.tags);
    setWrongTag(tags === undefined);
    if (tags === undefined) throw new Error(texts.keyTagsWrong);
    try {
      await onDone(await save(apiKey, toInput(draft, tags)));
    } catch (error) {
      setRefusal(error instanceof ApiError ? error : undefined);
      throw error;
    }
  };
  return (
    <Question
      title={apiKey === undefined ? texts.newKey : fill(texts.editKey, { name: apiKey.name ?? texts.unnamed })}
      action={apiKey === undefined ? texts.make : texts.save}
      act={act}
      onClose={onClose}
    >
      <TextField
        label={texts.keyName}
        hint={texts.keyNameHint}
        error={wrong("name")}
        value={draft.name}
        onInput={(name) => change({ name })}
        input={{ required: true, maxLength: 64 }}
      />
      <details open={apiKey !== undefined}>
        <summary>{texts.keyMore}</summary>
        <div class="stack">
          <ModelsField models={draft.models} onChange={(models) => change({ models })} />
          <TextField
            label={texts.keyExpires}
            hint={texts.keyExpiresHint}
            error={wrong("expires_at")}
            value={draft.expires}
            onInput={(expires) => change({ expires })}
            input={{ type: "date", min: dayOf(Date.now()) }}
          />
          <CapFields credits={draft.credits} onChange={(credits) => change({ credits })} />
          <Field label={texts.keyTags} hint={texts.keyTagsHint} error={isWrongTag ? texts.keyTagsWrong : wrong("tags")}>
            {(binding) => (
              <textarea
                {...binding}
                rows={2}
                value={draft.tags}
                onInput={({ currentTarget }) => change({ tags: currentTarget.value })}
              />
            )}
          </Field>
        </div>
      </details>
    </Question>
  );
}

/** All of the plan, or some of its models. */
function ModelsField({ models, onChange }: { models: Draft["models"]; onChange: (models: Draft["models"]) => void }) {
  const listed = useApi<AccountList<AccountModel>>("models").data?.data ?? [];
  // A key may have patterns, and models that the plan has no more.
  const names = [...new Set([...models, ...listed.map(({ id }) => id)])];
  return (
    <fieldset class="stack tight">
      <legend>{texts.keyModels}</legend>
      <p class="hint">{models.length === 0 ? texts.keyModelsAll : texts.keyModelsSome}</p>
      <div class="choices">
        {names.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={models.includes(name)}
              onChange={({ currentTarget }) =>
                onChange(currentTarget.checked ? [...models, name] : models.filter((one) => one !== name))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface CapFieldsProps {
  readonly credits: Draft["credits"];
  readonly onChange: (credits: Draft["credits"]) => void;
}

function CapFields({ credits, onChange }: CapFieldsProps) {
  return (
    <div class="pairs">
      {spans.map(([span, text]) => (
        <TextField
          key={span}
          label={fill(texts.keyCap, { window: text })}
          value={credits[span]}
          onInput={(amount) => onChange({ ...credits, [span]: amount })}
          input={{ type: "number", min: "0", step: "any", placeholder: texts.unlimited }}
        />
      ))}
    </div>
  );
}

async function save(apiKey: AccountKey | undefined, body: AccountKeyInput): Promise<NewAccountKey | undefined> {
  if (apiKey === undefined) {
    const made = await callApi<NewAccountKey>("keys", { method: "POST", body });
    announce(texts.keyMade);
    return made;
  }
  await callApi(`keys/${encodeURIComponent(apiKey.id)}`, { method: "PATCH", body });
  announce(texts.keySaved);
  return undefined;
}

function draftOf(apiKey: AccountKey | undefined, ownTags: Readonly<Record<string, string>>): Draft {
  const amount = (span: keyof AccountKeyCredits) => String(apiKey?.credits?.[span] ?? "");
  return {
    name: apiKey?.name ?? "",
    // What has the end of a day as its instant is of that day.
    expires: apiKey?.expires_at ? dayOf(apiKey.expires_at * 1000 - 1) : "",
    models: apiKey?.models ?? [],
    credits: { day: amount("day"), week: amount("week"), month: amount("month"), total: amount("total") },
    tags: Object.entries(apiKey?.tags ?? ownTags)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
  };
}

function toInput({ name, expires, models, credits }: Draft, tags: Readonly<Record<string, string>>): AccountKeyInput {
  const caps = Object.entries(credits).flatMap(([span, text]) => (text === "" ? [] : [[span, Number(text)] as const]));
  return {
    name,
    tags,
    expires_at: expires === "" ? null : endOf(expires),
    models: models.length === 0 ? null : models,
    credits: caps.length === 0 ? null : Object.fromEntries(caps),
  };
}

/** @returns `undefined`: a line is no tag. */
function toTags(text: string): Record<string, string> | undefined {
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  const pairs = lines.map((line) => /^([^=]+?)\s*=\s*(.+)$/.exec(line));
  if (pairs.some((pair) => pair === null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]));
}

/** As date fields have it, in the reader's time zone. */
function dayOf(ms: number): string {
  const date = new Date(ms);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

function endOf(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + 1).getTime() / 1000;
}
