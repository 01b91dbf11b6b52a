import { useState } from "preact/hooks";
import type { AccountBill } from "../../account/account-page-api.js";
import { SelectField } from "../parts/field.js";
import { columnOf, instant, timeZone } from "../parts/format.js";
import { Ready } from "../parts/notice.js";
import { type Column, DownloadButton, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { texts } from "./settings.js";

const mostMonths = 12;

/** What became of the account's credits in a month, as the reader's calendar has it. */
export function StatementView() {
  const months = lastMonths();
  const [chosen, setChosen] = useState("0");
  const { from, to } = months[Number(chosen)] ?? { from: 0, to: 0 };
  const bill = useApi<AccountBill>(`statement?from=${from}&to=${to}`);
  return (
    <>
      <div class="tools end">
        <SelectField
          label={texts.month}
          value={chosen}
          onChange={setChosen}
          options={months.map(({ from: at }, index) => [
            String(index),
            instant(at, { month: "long", year: "numeric" }),
          ])}
        />
        <span class="muted">{fill(texts.times, { zone: timeZone })}</span>
      </div>
      <Ready of={bill}>{(data) => <Bill bill={data} from={from} />}</Ready>
    </>
  );
}

interface Line {
  readonly item: string;
  readonly credits: number;
  readonly isSum?: boolean;
}

function Bill({ bill: { prepaid, plan }, from }: { readonly bill: AccountBill; readonly from: number }) {
  const bought: Line[] = [
    { item: texts.opening, credits: prepaid.opening },
    { item: texts.bought, credits: prepaid.bought },
    { item: texts.usedPrepaid, credits: -prepaid.used },
    { item: texts.expired, credits: -prepaid.expired },
    { item: texts.takenBack, credits: -prepaid.taken_back },
    { item: texts.closing, credits: prepaid.closing, isSum: true },
  ];
  const planned: Line[] = [
    { item: texts.planUsed, credits: plan.used },
    { item: texts.planGranted, credits: plan.granted },
  ];
  const format = columnOf([...bought, ...planned].map(({ credits }) => credits));
  const strong = ({ isSum }: Line, text: string) => (isSum ? <strong>{text}</strong> : text);
  const columns: Column<Line>[] = [
    { head: texts.item, cell: (line) => strong(line, line.item), csv: ({ item }) => item },
    {
      head: texts.credits,
      isNumeric: true,
      // No sign before nothing.
      cell: (line) => strong(line, format(line.credits || 0)),
      csv: ({ credits }) => credits || 0,
    },
  ];
  const name = `statement-${new Date(from * 1000).toISOString().slice(0, 7)}.csv`;
  return (
    <>
      {[[texts.prepaid, bought] as const, [texts.funding_plan, planned] as const].map(([title, lines]) => (
        <section key={title} class="card narrow" aria-label={title}>
          <h2>{title}</h2>
          <Table caption={title} columns={columns} rows={lines} keyOf={({ item }) => item} />
        </section>
      ))}
      <div>
        <DownloadButton name={name} columns={columns} rows={[...bought, ...planned]} />
      </div>
    </>
  );
}

function lastMonths(): { from: number; to: number }[] {
  const now = new Date();
  const startOf = (back: number) => new Date(now.getFullYear(), now.getMonth() - back, 1).getTime() / 1000;
  return Array.from({ length: mostMonths }, (_, back) => ({ from: startOf(back), to: startOf(back - 1) }));
}
