import type { AccountKey } from "../../../account/account-page-api.js";
import { instant, relative } from "../../parts/format.js";
import { Meter } from "../../parts/meter.js";
import { Badge } from "../../parts/notice.js";
import { fill } from "../../parts/texts.js";
import { Time } from "../../parts/time.js";
import { labelOf } from "../meter-card.js";
import type { KeyTask } from "../reader.js";
import { textOf, texts } from "../settings.js";

/** Opens what is done with a key. */
export type OnTask = (kind: KeyTask, key?: AccountKey) => void;

interface KeyRowProps {
  readonly apiKey: AccountKey;
  /** Absent: nothing can be changed. */
  readonly onTask: OnTask | undefined;
}

const tones = { active: "good", ending: "warning", disabled: "warning", expired: "danger", revoked: "danger" } as const;

/** A key, what it may do, and what can be done with it. */
export function KeyRow({ apiKey, onTask }: KeyRowProps) {
  const { name, hint, state, models, tags, meters, expires_at, revoked_at } = apiKey;
  const stateText = fill(textOf("state", state), { time: revoked_at === null ? "" : instant(revoked_at) });
  return (
    <li class={state === "revoked" || state === "expired" ? "ended" : undefined}>
      <div class="stack tight">
        <div class="row start">
          <h2>{name ?? texts.unnamed}</h2>
          <Badge tone={tones[state]}>{stateText}</Badge>
        </div>
        <p class="muted">
          <code>{hint}</code>
        </p>
        <p class="muted dots">
          <UsedAt at={apiKey.last_used_at} />
          <span>{fill(texts.made, { time: instant(apiKey.created_at, { dateStyle: "medium" }) })}</span>
          {expires_at !== null && state !== "expired" && (
            <span>{fill(texts.keyExpiryOn, { time: instant(expires_at) })}</span>
          )}
        </p>
        <div class="tags">
          {Object.entries(tags).map(([tag, value]) => (
            <Badge key={tag}>{`${tag}: ${value}`}</Badge>
          ))}
          {models?.map((model) => (
            <Badge key={model}>{model}</Badge>
          ))}
        </div>
      </div>
      <div class="stack">
        {state !== "revoked" &&
          meters?.map((meter) => <Meter key={meter.id} {...meter} label={labelOf(meter)} isSmall />)}
      </div>
      {onTask && <Actions apiKey={apiKey} onTask={onTask} />}
    </li>
  );
}

function UsedAt({ at }: { readonly at: number | null }) {
  if (at === null) return <span>{texts.neverUsed}</span>;
  const [before = "", after = ""] = texts.lastUsed.split("{time}");
  return (
    <span>
      {before}
      <Time at={at} text={relative(at)} />
      {after}
    </span>
  );
}

function Actions({ apiKey, onTask }: { readonly apiKey: AccountKey; readonly onTask: OnTask }) {
  const { name, state } = apiKey;
  const tasks: readonly Exclude<KeyTask, "make">[] =
    state === "active"
      ? ["edit", "rotate", "disable", "revoke"]
      : state === "ending"
        ? ["revoke"]
        : ["edit", "enable", "revoke"];
  return (
    <div class="actions">
      {tasks.map((task) => (
        <button
          key={task}
          type="button"
          class={task === "revoke" ? "danger" : undefined}
          // In a row, what a button is about is in sight; a screen reader has to be told.
          aria-label={`${texts[task]} ${name ?? texts.unnamed}`}
          onClick={() => onTask(task, apiKey)}
        >
          {texts[task]}
        </button>
      ))}
    </div>
  );
}
