import type { ComponentChildren } from "preact";
import { ApiError } from "../parts/api.js";
import { instant, number, relative } from "../parts/format.js";
import { Badge, Empty, Ready } from "../parts/notice.js";
import type { Column } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { Time } from "../parts/time.js";
import type { Loaded } from "../parts/use-api.js";
import { texts } from "./settings.js";

/** A text whose name ends in something that the server has said, such as a state; that, where there is none. */
export function wordOf(kind: string, what: string): string {
  return (texts as Readonly<Record<string, string>>)[`${kind}_${what}`] ?? what;
}

/** A text of somebody else's, which stays within its place whatever its length and direction. */
export function Cut({ children }: { readonly children: string | null | undefined }) {
  return children ? (
    <bdi class="cut" title={children}>
      {children}
    </bdi>
  ) : (
    <span class="muted">–</span>
  );
}

/** A column of such texts. */
export function cut<Row>(head: string, value: (row: Row) => string | null | undefined): Column<Row> {
  return { head, cell: (row) => <Cut>{value(row)}</Cut>, csv: (row) => value(row) ?? "" };
}

/** Something, and what is less important of it. */
export function Two({ children, more }: { readonly children: ComponentChildren; readonly more: ComponentChildren }) {
  return (
    <>
      {children}
      {more && <div class="muted">{more}</div>}
    </>
  );
}

const shortTime = { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" } as const;

export function ShortTime({ at }: { readonly at: number }) {
  return <Time at={at} text={instant(at, shortTime)} />;
}

/** How long ago something was, or in how long it will be. */
export function Ago({ at }: { readonly at: number }) {
  return <Time at={at} text={relative(at)} />;
}

/** A column of instants; with `onOpen`, each opens what its row is about. */
export function times<Row extends { readonly at: number }>(onOpen?: (row: Row) => void): Column<Row> {
  return {
    head: texts.time,
    cell: (row) =>
      onOpen === undefined ? (
        <ShortTime at={row.at} />
      ) : (
        <button type="button" class="link" onClick={() => onOpen(row)}>
          <ShortTime at={row.at} />
        </button>
      ),
    csv: ({ at }) => new Date(at * 1000).toISOString(),
  };
}

interface ShownProps<Data> {
  readonly of: Pick<Loaded<Data>, "data" | "error">;
  /** What is said where the gateway has no store for it. */
  readonly missing: string;
  readonly height?: number;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows what was loaded, or why it cannot be. */
export function Shown<Data>({ of, missing, height = 420, children }: ShownProps<Data>) {
  if (of.data === undefined && of.error instanceof ApiError && of.error.status === 501) {
    return (
      <div class="card">
        <Empty title={missing} />
      </div>
    );
  }
  return (
    <Ready of={of} height={height}>
      {children}
    </Ready>
  );
}

/** Names with their values, those that there are. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value || value === 0)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Status({ status }: { readonly status: "active" | "suspended" }) {
  return <Badge tone={status === "active" ? "good" : "danger"}>{wordOf("status", status)}</Badge>;
}

interface TasksProps<Task extends string> {
  /** What the row is about, for screen readers. */
  readonly of: string;
  readonly tasks: readonly Task[];
  readonly onTask: (task: Task) => void;
}

/** What can be done to a row of a table. */
export function Tasks<Task extends string>({ of, tasks, onTask }: TasksProps<Task>) {
  return (
    <div class="tasks">
      {tasks.map((task) => (
        <button key={task} type="button" aria-label={`${wordOf("task", task)} ${of}`} onClick={() => onTask(task)}>
          {wordOf("task", task)}
        </button>
      ))}
    </div>
  );
}

export function milliseconds(ms: number | null): string {
  if (ms === null) return "–";
  return ms < 1000
    ? fill(texts.milliseconds, { count: number(ms) })
    : fill(texts.seconds, { count: number(ms / 1000, 0, 2) });
}
