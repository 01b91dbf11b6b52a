import type { AccountMember, AccountPageApi } from "../../account/account-page-api.js";
import { columnOf } from "../parts/format.js";
import { Meter } from "../parts/meter.js";
import { Badge, Empty, Ready } from "../parts/notice.js";
import { type Column, DownloadButton, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { labelOf } from "./meter-card.js";
import { texts } from "./settings.js";

const everyMs = 60_000;

/** The members of the account, what they use, and what they may. */
export function MembersView() {
  const members = useApi<AccountPageApi["GET members"]>("members", everyMs);
  return (
    <Ready of={members}>
      {({ data, tag }) => (
        <section class="card" aria-label={texts.members}>
          {data.length === 0 ? (
            <Empty title={texts.membersEmpty} text={fill(texts.membersEmptyMore, { tag })} />
          ) : (
            <Members members={data} />
          )}
        </section>
      )}
    </Ready>
  );
}

function Members({ members }: { readonly members: readonly AccountMember[] }) {
  const columns = columnsOf(members);
  return (
    <>
      <div class="row">
        <p class="muted">{texts.membersMore}</p>
        <DownloadButton name="members.csv" columns={columns} rows={members} />
      </div>
      <Table caption={texts.members} columns={columns} rows={members} keyOf={({ value }) => value} />
    </>
  );
}

function columnsOf(members: readonly AccountMember[]): Column<AccountMember>[] {
  return [
    {
      head: texts.member,
      cell: ({ value, status }) => (
        <span class="tags">
          {value}
          {status === "suspended" && <Badge tone="danger">{texts.reason_budget_suspended}</Badge>}
        </span>
      ),
      csv: ({ value }) => value,
    },
    figures(texts.requests, ({ requests }) => requests),
    figures(texts.credits, ({ credits }) => credits, columnOf(members.map(({ credits }) => credits))),
    {
      head: texts.budgets,
      cell: ({ meters, value }) =>
        meters.length === 0 ? (
          <span class="muted">{texts.noBudget}</span>
        ) : (
          <div class="stack">
            {meters.map((meter) => (
              <Meter key={meter.id} {...meter} label={labelOf({ ...meter, kind: "key" })} of={value} isSmall />
            ))}
          </div>
        ),
    },
  ];
}
