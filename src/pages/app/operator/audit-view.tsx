import { useState } from "preact/hooks";
import type { OperatorAuditEntry } from "../../operator/operator-page-api.js";
import { Dialog } from "../parts/dialog.js";
import { Badge } from "../parts/notice.js";
import type { Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Filters } from "./filters.js";
import { PagedTable } from "./paged-table.js";
import { cut, Facts, times } from "./pieces.js";
import { filtersOf, withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const filters = [
  { name: "account", label: texts.account },
  { name: "key", label: texts.keyId },
  { name: "by", label: texts.by },
];

/** Who has changed what, and why. */
export function AuditView({ rest }: OperatorViewProps) {
  const [shown, show] = useState<OperatorAuditEntry>();
  const values = filtersOf(rest);
  return (
    <>
      <Filters view="audit" filters={filters} values={values} />
      <PagedTable<OperatorAuditEntry>
        path={withQuery("audit", values)}
        caption={texts.audit}
        columns={[times<OperatorAuditEntry>(show), ...columns]}
        keyOf={({ id }) => id}
        empty={texts.noChangesYet}
        missing={texts.noAudit}
        file="audit.csv"
      />
      {shown && <EntryDialog entry={shown} onClose={() => show(undefined)} />}
    </>
  );
}

const columns: readonly Column<OperatorAuditEntry>[] = [
  {
    head: texts.what,
    cell: ({ action, outcome }) => (
      <span class="tags">
        <code>{action}</code>
        {outcome === "unknown" && <Badge tone="warning">{texts.outcomeUnknown}</Badge>}
      </span>
    ),
    csv: ({ action }) => action,
  },
  cut(texts.about, subjectOf),
  cut(texts.by, ({ by }) => by),
  cut(texts.note, ({ note }) => note),
];

function subjectOf({ account, moved_to, key, plan, model, budget }: OperatorAuditEntry): string {
  const whose = moved_to === null ? account : `${account} → ${moved_to}`;
  return [whose, key, plan, model, budget].filter((part) => part !== null).join(" · ");
}

function EntryDialog({ entry, onClose }: { readonly entry: OperatorAuditEntry; readonly onClose: () => void }) {
  const json = (value: object | null) => value && <pre>{JSON.stringify(value, undefined, 2)}</pre>;
  return (
    <Dialog title={entry.action} onClose={onClose}>
      <div class="stack">
        <Facts
          of={[
            [texts.time, <Time key="time" at={entry.at} />],
            [texts.by, entry.by],
            [texts.note, entry.note],
            [texts.about, subjectOf(entry)],
            [texts.given, json(entry.given)],
            [texts.before, json(entry.before)],
            [texts.after, json(entry.after)],
          ]}
        />
        <div class="actions">
          <button type="button" onClick={onClose}>
            {texts.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
