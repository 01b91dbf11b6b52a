import type { ComponentChildren } from "preact";
import { texts } from "./texts.js";
import type { Loaded } from "./use-api.js";

/** What has failed, for all to hear. */
export function Alert({ error }: { readonly error: Error | undefined }) {
  return error === undefined ? null : (
    <p class="notice danger" role="alert">
      {error.message || texts.failed}
    </p>
  );
}

interface NoticeProps {
  readonly tone?: "danger" | "warning";
  readonly children: ComponentChildren;
}

/** Something that the reader should know before all else. */
export function Notice({ tone, children }: NoticeProps) {
  return <div class={`notice ${tone ?? ""}`}>{children}</div>;
}

interface EmptyProps {
  readonly title: string;
  readonly text?: string | undefined;
  readonly children?: ComponentChildren;
}

/** Stands where there is nothing yet, and says how something gets there. */
export function Empty({ title, text, children }: EmptyProps) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {text && <p>{text}</p>}
      {children}
    </div>
  );
}

interface ReadyProps<Data> {
  readonly of: Pick<Loaded<Data>, "data" | "error">;
  /** Of what keeps the place until then, in pixels. */
  readonly height?: number;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows what was loaded as soon as it is there; before that, that it is being loaded, or why it cannot be. */
export function Ready<Data>({ of: { data, error }, height, children }: ReadyProps<Data>) {
  if (data !== undefined) return <>{children(data)}</>;
  return error === undefined ? <Skeleton height={height} /> : <Alert error={error} />;
}

/** Keeps the place of what is being loaded. */
function Skeleton({ height = 320 }: { readonly height: number | undefined }) {
  return (
    <div class="skeleton" style={{ height }}>
      <span class="hidden">{texts.loading}</span>
    </div>
  );
}

/** A state in a word, with a colour beside it. */
export function Badge({
  tone,
  children,
}: {
  readonly tone?: "good" | "warning" | "danger";
  readonly children: string;
}) {
  return <span class={`badge ${tone ?? ""}`}>{children}</span>;
}
