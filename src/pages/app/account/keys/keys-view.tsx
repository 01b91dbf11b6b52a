import { useEffect, useState } from "preact/hooks";
import type { AccountKey, NewAccountKey } from "../../../account/account-page-api.js";
import { keepFocus } from "../../parts/dialog.js";
import { Empty, Ready } from "../../parts/notice.js";
import { MoreButton } from "../../parts/table.js";
import { fill } from "../../parts/texts.js";
import { usePages } from "../../parts/use-api.js";
import type { KeyTask, ViewProps } from "../reader.js";
import { texts } from "../settings.js";
import { KeyForm } from "./key-form.js";
import { KeyQuestion } from "./key-question.js";
import { KeyRow, type OnTask } from "./key-row.js";
import { SecretDialog } from "./secret-dialog.js";

/** The reader's keys: those that work, and behind a click those that do not any more. */
export function KeysView({ me, reload }: ViewProps) {
  const keys = usePages<AccountKey>("keys?limit=50", { keyOf: ({ id }) => id, cursor: "after" });
  const [task, setTask] = useState<{ readonly kind: KeyTask; readonly key: AccountKey | undefined }>();
  const [made, setMade] = useState<NewAccountKey>();
  useForgetting(setMade);
  const onTask = me.can.change_keys ? (kind: KeyTask, key?: AccountKey) => setTask({ kind, key }) : undefined;
  const close = () => setTask(undefined);
  const done = async (key?: NewAccountKey) => {
    close();
    setMade(key);
    reload();
    await keys.reload();
    keepFocus();
  };
  return (
    <Ready of={keys}>
      {(listed) => (
        <>
          <Tools me={me} onTask={onTask} />
          <KeyList keys={listed} onTask={onTask} />
          <MoreButton more={keys.more} />
          {task &&
            (task.kind === "make" || task.kind === "edit" ? (
              <KeyForm apiKey={task.key} me={me} onDone={done} onClose={close} />
            ) : (
              task.key && <KeyQuestion kind={task.kind} apiKey={task.key} onDone={done} onClose={close} />
            ))}
          {made && <SecretDialog created={made} onClose={() => setMade(undefined)} />}
        </>
      )}
    </Ready>
  );
}

/** A page that is left and come back to has no secret. */
function useForgetting(setMade: (made: undefined) => void): void {
  useEffect(() => {
    const forget = () => setMade(undefined);
    window.addEventListener("pagehide", forget);
    return () => window.removeEventListener("pagehide", forget);
  }, [setMade]);
}

function Tools({ me: { keys }, onTask }: Pick<ViewProps, "me"> & { readonly onTask: OnTask | undefined }) {
  const isFull = keys.in_force >= keys.max;
  return (
    <div class="tools">
      <p class="muted">{isFull ? texts.keysFull : fill(texts.keysCount, { count: keys.in_force, max: keys.max })}</p>
      {onTask && (
        <button type="button" class="primary" disabled={isFull} onClick={() => onTask("make")}>
          {texts.newKey}
        </button>
      )}
    </div>
  );
}

interface KeyListProps {
  readonly keys: readonly AccountKey[];
  /** Absent: nothing can be changed. */
  readonly onTask: OnTask | undefined;
}

function KeyList({ keys, onTask }: KeyListProps) {
  const [old, current] = [true, false].map((isOld) =>
    keys.filter(({ state }) => (state === "revoked" || state === "expired") === isOld),
  ) as [AccountKey[], AccountKey[]];
  return (
    <>
      <section class="card" aria-label={texts.keys}>
        {current.length === 0 && <Empty title={texts.keysEmpty} text={texts.keysEmptyMore} />}
        <ul class="keys">
          {current.map((key) => (
            <KeyRow key={key.id} apiKey={key} onTask={onTask} />
          ))}
        </ul>
      </section>
      {old.length > 0 && (
        <details>
          <summary>
            {texts.oldKeys} ({old.length})
          </summary>
          <ul class="keys card">
            {old.map((key) => (
              <KeyRow key={key.id} apiKey={key} onTask={undefined} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
